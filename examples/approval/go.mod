module acme/approval

go 1.24

require armature/sdk/go v0.0.0

replace armature/sdk/go => ../../sdk/go
