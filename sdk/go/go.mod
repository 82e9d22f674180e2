module armature/sdk/go

go 1.24
