// SPDX-License-Identifier: MIT
// The same as vt_dump, by xterm.js: usage: node xterm_dump.mjs ROWS COLS SCROLLBACK FILE...
// Resolves @xterm/headless from the folder in ZW_NODE_MODULES' parent (see differ.py).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The addon reads its table from the start of the buffer behind a Buffer: it must not share a pool.
Buffer.poolSize = 0;
const require = createRequire(process.env.ZW_NODE_ROOT + "/");
const { Terminal } = require("@xterm/headless");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");
const CLUSTER_MAX = 5; // code points that a cell of struct pane_grid holds
const [firstRows, firstCols, scrollback] = process.argv.slice(2, 5).map(Number);

function colour(rgb, palette, value) {
	if (rgb) return (0x02000000 | value) >>> 0;
	return palette ? (0x01000000 | value) >>> 0 : 0;
}

function look(c) {
	const blank = c.getChars() === "" && c.getWidth() === 1;
	const bits = [c.isBold(), c.isDim(), c.isItalic(), c.isBlink(), c.isInverse(), c.isInvisible(),
		c.isStrikethrough(), c.isOverline(), c.isUnderline()];
	const flags = bits.reduce((a, b, i) => a | (b ? 1 << i : 0), 0);
	const fg = colour(c.isFgRGB(), c.isFgPalette(), c.getFgColor());
	const bg = colour(c.isBgRGB(), c.isBgPalette(), c.getBgColor());
	return `${blank ? 0 : fg.toString(16)}/${bg.toString(16)}/${blank ? 0 : flags.toString(16)}`;
}

function dumpRow(line, cols, out) {
	let text = "", end = 0;
	const cells = [];
	for (let x = 0; x < cols; x++) {
		const c = line.getCell(x);
		if (c.getChars() !== "" || c.getWidth() !== 1) end = x + 1;
		cells.push([c.getWidth(), [...c.getChars()].slice(0, CLUSTER_MAX).join(""), look(c)]);
	}
	for (let x = 0; x < end; x++)
		if (cells[x][0] !== 0) text += cells[x][1] || " ";
	out.push("T " + text);
	let runs = "A", begin = 0;
	for (let x = 1; x <= cols; x++) {
		if (x < cols && cells[x][2] === cells[begin][2]) continue;
		if (cells[begin][2] !== "0/0/0") runs += ` ${begin}-${x - 1}:${cells[begin][2]}`;
		begin = x;
	}
	out.push(runs);
}

// APC size;rows;cols ST changes the size.
async function feed(t, bytes) {
	const parts = bytes.toString("latin1").split(/\x1b_size;(\d+);(\d+)\x1b\\/);
	for (let i = 0; i < parts.length; i += 3) {
		await new Promise(done => t.write(Buffer.from(parts[i], "latin1"), done));
		if (i + 2 < parts.length) t.resize(Number(parts[i + 2]), Number(parts[i + 1]));
	}
}

for (const file of process.argv.slice(5)) {
	const t = new Terminal({ rows: firstRows, cols: firstCols, scrollback, allowProposedApi: true });
	t.loadAddon(new UnicodeGraphemesAddon());
	t.unicode.activeVersion = "15-graphemes";
	t.parser.registerOscHandler(8, () => true); // a link looks underlined there
	try {
		await feed(t, readFileSync(file));
	} catch (e) { // its reflow fails on some empty lines
		console.log(`F ${file}\nX ${e.message}`);
		continue;
	}
	const b = t.buffer.active, out = ["F " + file];
	for (let y = 0; y < b.length; y++) dumpRow(b.getLine(y), t.cols, out);
	out.push(`C ${b.cursorY} ${Math.min(b.cursorX, t.cols - 1)} ${b.type === "alternate" ? 1 : 0} ${b.baseY}`);
	console.log(out.join("\n"));
	t.dispose();
}
