// SPDX-License-Identifier: MIT
// xterm.js as a terminal for xterm.py: commands as lines of JSON on standard input, answers on output.
//   {"data": base64}        what a program printed; answers {"reply": base64} for what the terminal says
//   {"resize": [rows, cols]}
//   {"look": n}             answers {"look": n, ...}: the screen, its past, cursor and modes
// ZW_NODE_ROOT: see differ.py.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

Buffer.poolSize = 0;
const require = createRequire(process.env.ZW_NODE_ROOT + "/");
const { Terminal } = require("@xterm/headless");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");
const [rows, cols] = process.argv.slice(2).map(Number);
const t = new Terminal({ rows, cols, scrollback: 5000, allowProposedApi: true });
t.loadAddon(new UnicodeGraphemesAddon());
t.unicode.activeVersion = "15-graphemes";

function say(what) {
	process.stdout.write(JSON.stringify(what) + "\n");
}
t.onData(s => say({ reply: Buffer.from(s, "utf8").toString("base64") }));
t.onBinary(s => say({ reply: Buffer.from(s, "latin1").toString("base64") }));

function look(n) {
	const active = t.buffer.active, normal = t.buffer.normal, screen = [], past = [];
	for (let y = 0; y < t.rows; y++) screen.push(active.getLine(active.baseY + y).translateToString(true));
	for (let y = 0; y < normal.length; y++) past.push(normal.getLine(y).translateToString(true));
	say({
		look: n, screen, past, rows: t.rows, cols: t.cols, buffer: active.type, modes: t.modes,
		cursor: [active.cursorY, active.cursorX], isCursorHidden: t._core.coreService.isCursorHidden,
	});
}

for await (const line of createInterface({ input: process.stdin })) {
	const c = JSON.parse(line);
	if (c.data !== undefined) await new Promise(done => t.write(Buffer.from(c.data, "base64"), done));
	if (c.resize !== undefined) t.resize(c.resize[1], c.resize[0]);
	if (c.look !== undefined) look(c.look);
}
