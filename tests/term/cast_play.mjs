// SPDX-License-Identifier: MIT
// Plays an asciicast v2 file on xterm.js and prints the screen it ends with, as text.
// usage: node cast_play.mjs FILE [N]      N: only the first N events
// Fails on anything that is not asciicast v2. ZW_NODE_ROOT: see differ.py.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

Buffer.poolSize = 0;
const require = createRequire(process.env.ZW_NODE_ROOT + "/");
const { Terminal } = require("@xterm/headless");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");
const [file, limit] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
if (!text.endsWith("\n")) throw new Error("the last line is not whole");
const lines = text.slice(0, -1).split("\n").map(line => JSON.parse(line));
const head = lines.shift();
if (head.version !== 2) throw new Error("not version 2");
const t = new Terminal({ rows: head.height, cols: head.width, scrollback: 1000, allowProposedApi: true });
t.loadAddon(new UnicodeGraphemesAddon());
t.unicode.activeVersion = "15-graphemes";
let last = 0;
for (const [time, kind, data] of lines.slice(0, limit ? Number(limit) : undefined)) {
	if (!(time >= last)) throw new Error(`time goes back from ${last} to ${time}`);
	last = time;
	if (kind === "o") await new Promise(done => t.write(data, done));
	else if (kind === "r") t.resize(...data.split("x").map(Number));
	else if (kind !== "m") throw new Error(`kind ${kind}`);
}
for (let y = 0; y < t.rows; y++)
	console.log(t.buffer.active.getLine(t.buffer.active.baseY + y).translateToString(true));
