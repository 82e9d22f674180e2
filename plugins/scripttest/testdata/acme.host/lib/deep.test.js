import { test, assert } from "armature:test";
import { echo } from "../main.ts";

test("a test in a folder below", () => assert.equal(echo.name, "echo"));
