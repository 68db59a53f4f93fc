/**
 * How long cast takes, each figure beside its floor in the same run: `node test/bench/run.mjs [--json] [--repeat N]`.
 * Milliseconds of a shared machine say little; ratios to what the same machine does at the same time say more.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OUTPUT_FIGURES, outputRuns, startCommandServer } from './output.mjs';
import { PACE, ROUNDS, startServer, TOKENS } from './server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const CLI = here('../../dist/cli.js');
const BARE = here('bare.mjs');
const isJson = process.argv.includes('--json');
const repeat = Number(process.argv[process.argv.indexOf('--repeat') + 1]) || 15;
/** Each run of these takes seconds. */
const longRepeat = Math.max(3, Math.round(repeat / 5));

if (!existsSync(CLI)) {
  console.error('There is no dist/cli.js to measure. Build it first: npm run build');
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'cast-bench-'));
for (let round = 1; round <= ROUNDS; round += 1) writeFileSync(join(folder, `file-${round}.txt`), `line of file ${round}\n`.repeat(100));
const server = await startServer();
const commands = await startCommandServer();
const environment = {
  PATH: process.env.PATH,
  HOME: folder,
  CAST_HOME: join(folder, 'home'),
  CAST_BASE_URL: server.url,
  // Looked for in every piece of a reply, as everybody's is.
  CAST_API_KEY: 'bench-0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop',
  CAST_NO_DAEMON: '1',
  CAST_SANDBOX: 'off',
  CAST_JUDGE: 'off',
};

/** One process from its start to its end. Times and CPU in milliseconds, memory in KiB. The code cache is `warm`, `cold` or `off`. */
const run = async (args, { measuresUsage = false, cache = 'warm', env = {} } = {}) => {
  server.reset();
  if (cache === 'cold') rmSync(join(environment.CAST_HOME, 'cache', 'code'), { recursive: true, force: true });
  const usageFile = join(folder, 'usage');
  const flags = measuresUsage ? ['--require', here('usage.cjs')] : [];
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...flags, ...args], {
    cwd: folder,
    env: { ...environment, ...env, BENCH_USAGE: usageFile, ...(cache === 'off' ? { CAST_CODE_CACHE: 'off' } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stdout.resume();
  child.stderr.on('data', (bytes) => {
    errors += bytes;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const total = performance.now() - startedAt;
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}\n${errors}`);
  const arrivals = server.arrivals();
  return {
    total,
    firstRequest: (arrivals[0] ?? Number.NaN) - startedAt,
    round: ((arrivals.at(-1) ?? Number.NaN) - (arrivals[0] ?? Number.NaN)) / ROUNDS,
    requests: arrivals.length,
    ...(measuresUsage ? JSON.parse(readFileSync(usageFile, 'utf8')) : {}),
  };
};

const cast = (model, ...flags) => [CLI, 'run', '-m', model, ...flags, 'go'];
const NOTHING = ['-e', '0'];

/** Figures by name, one number a run. Within a repeat all run one after another, so that a slow minute slows them all. */
const collect = async (count, runs, seen = {}) => {
  for (let index = 0; index < count; index += 1) {
    for (const [args, options, figures] of runs) {
      const outcome = await run(args, options);
      for (const [name, pick] of Object.entries(figures)) (seen[name] ??= []).push(pick(outcome));
    }
  }
  return seen;
};
const total = ({ total }) => total;
const firstRequest = ({ firstRequest }) => firstRequest;
const cpu = ({ cpu }) => cpu;
const memory = ({ memory }) => memory;
const round = ({ round, requests }) => {
  if (requests !== ROUNDS + 1) throw new Error(`${requests} requests where ${ROUNDS + 1} were expected`);
  return round;
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
/** Who reads an answer, and how it is called. The first two are floors. */
const READERS = {
  fetch: (model) => [BARE, 'fetch', server.url, model],
  http: (model) => [BARE, 'http', server.url, model],
  parser: (model) => [BARE, 'parser', server.url, model],
  text: (model) => cast(model, '--format', 'text'),
  'stream-json': (model) => cast(model, '--format', 'stream-json'),
};
const STREAMS = ['one', 'packets', 'singles', 'pace'];

const measure = async () => {
  const seen = await collect(repeat, [
    [NOTHING, {}, { nothing: total }],
    [[CLI, '--version'], {}, { version: total }],
    [cast('one'), { cache: 'off' }, { 'first request, off': firstRequest, 'one token, off': total }],
    // In this order: the cold run leaves the cache that the warm one reads.
    [cast('one'), { cache: 'cold' }, { 'first request, cold': firstRequest, 'one token, cold': total }],
    [cast('one'), {}, { 'first request': firstRequest, 'one token': total }],
  ]);
  const withUsage = { measuresUsage: true };
  const streams = STREAMS.flatMap((model) =>
    Object.entries(READERS).map(([reader, argsFor]) => [
      argsFor(model),
      withUsage,
      { [`${model}, ${reader}`]: total, [`${model}, ${reader}, cpu`]: cpu, [`${model}, ${reader}, memory`]: memory },
    ]),
  );
  await collect(
    longRepeat,
    [
      [[BARE, 'rounds', server.url], {}, { 'bare round': round }],
      [cast('rounds'), {}, { 'tool round': round }],
      [NOTHING, withUsage, { 'nothing, memory': memory }],
      [cast('rounds'), withUsage, { 'tool rounds, memory': memory }],
      ...streams,
      ...outputRuns(cast, commands.url),
    ],
    seen,
  );
  return { ...seen, ...beyondOneToken(seen) };
};

/** What the tokens cost beyond the same process with one token. */
const beyondOneToken = (seen) => {
  const beyond = {};
  for (const reader of Object.keys(READERS)) {
    for (const kind of ['', ', cpu']) {
      const one = median(seen[`one, ${reader}${kind}`]);
      for (const model of STREAMS.slice(1)) beyond[`${model} beyond one, ${reader}${kind}`] = seen[`${model}, ${reader}${kind}`].map((value) => value - one);
    }
  }
  return beyond;
};

/** Rows of one way to send the tokens. At a pace the time is that of the sender, so only CPU says something. */
const streamRows = (model, how) =>
  (model === 'pace' ? [', cpu'] : ['', ', cpu']).flatMap((kind) =>
    ['text', 'stream-json', 'parser'].flatMap((reader) => [
      [`${how}, ${NAMES[reader]}${kind.toUpperCase()}`, `${model}, ${reader}${kind}`, `${model}, fetch${kind}`, 'fetch'],
      ['- beside node:http', `${model}, ${reader}${kind}`, `${model}, http${kind}`, 'node:http'],
      ['- beyond one token', `${model} beyond one, ${reader}${kind}`, `${model} beyond one, fetch${kind}`, 'fetch'],
    ]),
  );
const NAMES = { text: 'text', 'stream-json': 'stream-json', parser: "openai's parser" };

/** What is shown, and beside what. */
const FIGURES = [
  ['cast --version', 'version', 'nothing', 'node -e 0'],
  ['start to first request', 'first request', 'nothing', 'node -e 0'],
  ['- with an empty code cache', 'first request, cold', 'nothing', 'node -e 0'],
  ['- without a code cache', 'first request, off', 'nothing', 'node -e 0'],
  ['one-token answer, whole process', 'one token', 'nothing', 'node -e 0'],
  ['- with an empty code cache', 'one token, cold', 'nothing', 'node -e 0'],
  ['- without a code cache', 'one token, off', 'nothing', 'node -e 0'],
  [`tool round (of ${ROUNDS})`, 'tool round', 'bare round', 'same requests and reads'],
  ...streamRows('packets', `${TOKENS} in packets`),
  ...streamRows('singles', `${TOKENS} one by one`),
  ...streamRows('pace', `${TOKENS} at ${PACE}/s`),
  ['peak memory, one token', 'one, text, memory', 'nothing, memory', 'node -e 0'],
  [`peak memory, ${ROUNDS} tool rounds`, 'tool rounds, memory', 'nothing, memory', 'node -e 0'],
  [`peak memory, ${TOKENS} in packets`, 'packets, text, memory', 'nothing, memory', 'node -e 0'],
  [`peak memory, ${TOKENS} at ${PACE}/s`, 'pace, text, memory', 'nothing, memory', 'node -e 0'],
  ['- beside fetch', 'pace, text, memory', 'pace, fetch, memory', 'fetch'],
  ...OUTPUT_FIGURES,
];

const rounded = (number) => Math.round(number * 100) / 100;
const figureOf = (seen) => (row) => {
  const [name, key, floorKey, floor] = row;
  const [values, floors] = [seen[key], seen[floorKey]];
  const best = [Math.min(...values), Math.min(...floors)];
  const middle = [median(values), median(floors)];
  return {
    name,
    unit: key.endsWith('memory') ? 'KiB' : 'ms',
    floor,
    median: rounded(middle[0]),
    min: rounded(best[0]),
    floorMedian: rounded(middle[1]),
    floorMin: rounded(best[1]),
    ratio: rounded(middle[0] / middle[1]),
    ratioOfMins: rounded(best[0] / best[1]),
  };
};

const lineOf = ({ name, unit, floor, median: middle, min, floorMedian, ratio, ratioOfMins }) => {
  const show = (value) => (unit === 'KiB' ? `${Math.round(value / 1024)} MiB` : `${value.toFixed(value < 10 ? 2 : 0)} ms`);
  return `${name.padEnd(42)} ${ratio.toFixed(2).padStart(6)} × (mins ${ratioOfMins.toFixed(2)})  ${show(middle)}, min ${show(min)}; ${floor} ${show(floorMedian)}`;
};

try {
  const figures = FIGURES.map(figureOf(await measure()));
  if (isJson) console.log(JSON.stringify({ node: process.version, repeat, figures }, null, 2));
  else console.log([`Medians of ${repeat} runs (of ${longRepeat} for the long ones), Node ${process.version}`, ...figures.map(lineOf)].join('\n'));
} finally {
  server.close();
  commands.close();
  rmSync(folder, { recursive: true, force: true });
}
