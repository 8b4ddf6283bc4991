// @ts-check
import process from "node:process";

/** Node, for other processes: also where tests run in another runtime, whose own program takes other arguments. */
export const nodePath = process.env.LEFTOFF_NODE || process.execPath;
