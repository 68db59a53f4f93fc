/**
 * What reading costs in a file of a gigabyte: `node test/bench/read.mjs [--json] [--repeat N]`. A tool round of a whole `cast run` that reads a few lines
 * there stands beside the same round with a small file, and beside the same bytes opened and read with nothing around it.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROUNDS, startServer } from './server.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const isJson = process.argv.includes('--json');
const repeat = Number(process.argv[process.argv.indexOf('--repeat') + 1]) || 5;

if (!existsSync(CLI)) {
  console.error('There is no dist/cli.js to measure. Build it first: npm run build');
  process.exit(1);
}

const LINE = 'one of the lines of a log file that has grown to a gigabyte by now\n';
const LINES = Math.ceil(1024 ** 3 / LINE.length);
const folder = mkdtempSync(join(tmpdir(), 'cast-bench-read-'));

const fill = async (path, lines) => {
  const handle = await open(path, 'w');
  const block = 100_000;
  for (let left = lines; left > 0; left -= block) await handle.write(LINE.repeat(Math.min(block, left)));
  await handle.close();
};

/** A round of one run, in milliseconds: from one request to the next, the mean of all. */
const roundOf = async (input) => {
  const server = await startServer((round) => ({ ...input, offset: input.offset + round }));
  const environment = { PATH: process.env.PATH, HOME: folder, CAST_HOME: join(folder, 'home'), CAST_BASE_URL: server.url, CAST_API_KEY: 'bench' };
  const quiet = { CAST_NO_DAEMON: '1', CAST_SANDBOX: 'off', CAST_JUDGE: 'off' };
  const child = spawn(process.execPath, [CLI, 'run', '-m', 'rounds', 'go'], { cwd: folder, env: { ...environment, ...quiet }, stdio: 'ignore' });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const arrivals = server.arrivals();
  server.close();
  if (code !== 0 || arrivals.length !== ROUNDS + 1) throw new Error(`cast ended with ${code} behind ${arrivals.length} requests`);
  return (arrivals.at(-1) - arrivals[0]) / ROUNDS;
};

/** Opens a file and reads its first bytes, as often as there are rounds. */
const bareOf = async (path, bytes) => {
  const chunk = Buffer.alloc(Math.min(bytes, 1 << 18));
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) {
    const handle = await open(path);
    for (let at = 0; at < bytes; at += chunk.length) await handle.read(chunk, 0, chunk.length, at);
    await handle.close();
  }
  return (performance.now() - startedAt) / ROUNDS;
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  const [big, small] = [join(folder, 'big.log'), join(folder, 'small.log')];
  await fill(big, LINES);
  await fill(small, 1200);
  // A page of lines, a little further on each time: the same call again would not be run.
  const near = { offset: 1000, limit: 50 };
  const middle = { offset: 100_000, limit: 50 };
  const seen = { near: [], small: [], bare: [], middle: [], bareMiddle: [] };
  // The first run compiles what is kept compiled afterwards.
  await roundOf({ path: small, ...near });
  for (let index = 0; index < repeat; index += 1) {
    seen.near.push(await roundOf({ path: big, ...near }));
    seen.small.push(await roundOf({ path: small, ...near }));
    seen.bare.push(await bareOf(big, 1 << 18));
    seen.middle.push(await roundOf({ path: big, ...middle }));
    seen.bareMiddle.push(await bareOf(big, middle.offset * LINE.length));
  }
  const medians = Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, Math.round(median(values) * 100) / 100]));
  const line = (name, bare) => {
    const [round, small, floor] = [medians[name], medians.small, medians[bare]].map((value) => value.toFixed(2));
    return `${round} ms, ${(medians[name] / medians.small).toFixed(2)} × the round with a small file (${small} ms); the bytes opened and read alone: ${floor} ms`;
  };
  if (isJson) console.log(JSON.stringify({ node: process.version, repeat, medians }, null, 2));
  else {
    console.log(`A gigabyte, medians of ${repeat} runs of ${ROUNDS} rounds, Node ${process.version}`);
    console.log(`from line   ${near.offset}: ${line('near', 'bare')}`);
    console.log(`from line ${middle.offset}: ${line('middle', 'bareMiddle')}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
