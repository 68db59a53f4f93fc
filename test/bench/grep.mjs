/**
 * How long grep and glob take in a tree of many files, beside the same ripgrep called by hand:
 * `node test/bench/grep.mjs [--files N] [--repeat N] [--only NAME] [--json] [--walk]`. The tree is made once, which takes half a minute, and kept in the
 * temporary folder. A tool is measured as a whole turn of a session: the request, the call through the kernel, the result, the last request.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { build } from 'esbuild';
import { treeOf } from './tree.mjs';

const option = (name, otherwise) => (process.argv.includes(name) ? Number(process.argv[process.argv.indexOf(name) + 1]) : otherwise);
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : '';
const isJson = process.argv.includes('--json');
const repeat = option('--repeat', 7);
const engines = ['ripgrep', ...(process.argv.includes('--walk') ? ['walk'] : [])];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = `
export { createTestSession, say, use } from './kernel/testkit/index.ts';
export { default as search } from './plugins/search/index.ts';
`;
/** Kernel and plugin as one file, from the sources: nothing has to be built first. */
const workshop = mkdtempSync(join(tmpdir(), 'cast-bench-'));
symlinkSync(join(ROOT, 'node_modules'), join(workshop, 'node_modules'));
await build({
  stdin: { contents: ENTRY, resolveDir: ROOT, loader: 'ts' },
  outfile: join(workshop, 'search.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'error',
});
const { createTestSession, say, search, use } = await import(pathToFileURL(join(workshop, 'search.mjs')).href);

/** What is asked, and how a person would ask ripgrep for the same. */
const JOBS = [
  ['rare text', 'grep', { pattern: 'needleHere' }, ['needleHere']],
  ['text that is nowhere', 'grep', { pattern: 'notThereAtAll' }, ['notThereAtAll']],
  ['expression', 'grep', { pattern: '\\bneedle\\w+ = \\d' }, ['\\bneedle\\w+ = \\d']],
  ['any case', 'grep', { pattern: 'NEEDLEHERE', ignoreCase: true }, ['-i', 'NEEDLEHERE']],
  ['around it', 'grep', { pattern: '(?<=const )needle', context: 2 }, ['-P', '-C2', '(?<=const )needle']],
  ['in Markdown files', 'grep', { pattern: 'needleHere', glob: '*.md' }, ['-g', '*.md', 'needleHere']],
  ['text that is everywhere', 'grep', { pattern: 'async' }, ['async']],
  ['all Markdown files', 'glob', { pattern: '*.md' }, ['--files', '-g', '*.md']],
  ['all files', 'glob', { pattern: '**/*' }, ['--files']],
];

const folder = treeOf(option('--files', 200_000));

/** Milliseconds, and those that this process itself has computed: ripgrep by hand leaves it idle. */
const timed = async (run) => {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return { time: performance.now() - startedAt, cpu: (user + system) / 1000 };
};
const byHand = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn(rgPath, ['--no-config', '--line-number', ...args, '.'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.resume();
    child.on('error', reject);
    child.on('close', resolve);
  });

const sessions = {};
const script = {};
for (const engine of engines) {
  script[engine] = [];
  const beats = script[engine];
  const next = (request, signal) => beats.shift()(request, signal);
  sessions[engine] = await createTestSession({
    plugins: { search },
    config: { plugins: { search: { engine } } },
    cwd: folder,
    script: Array.from({ length: 2 * JOBS.length * (repeat + 1) }, () => next),
  });
}
const byTool = async (engine, tool, input) => {
  const session = sessions[engine];
  script[engine].push(use(tool, input), say('done'));
  await session.run('go');
  const ended = session.events('tool.ended').at(-1);
  // Without ripgrep a huge tree may take longer than a search may: that is an answer as well.
  if (ended?.status !== 'ok' && !(engine === 'walk' && ended?.status === 'error'))
    throw new Error(`${tool} ${JSON.stringify(input)} ended with ${ended?.status}`);
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const rounded = (number) => Math.round(number * 100) / 100;

const measure = async ([name, tool, input, args]) => {
  const ways = {
    hand: () => byHand(args),
    ...(tool === 'grep' ? { 'hand, --json': () => byHand(['--json', ...args]) } : {}),
    ...Object.fromEntries(engines.map((engine) => [engine, () => byTool(engine, tool, input)])),
  };
  const seen = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  // In turns, so that a slow minute slows them all; the first round only warms up.
  for (let round = 0; round <= repeat; round += 1) {
    for (const [way, run] of Object.entries(ways)) {
      const taken = await timed(run);
      if (round > 0) seen[way].push(taken);
    }
  }
  const timesOf = (way) => seen[way].map(({ time }) => time);
  const floor = timesOf('hand');
  return Object.keys(seen).map((way) => {
    const times = timesOf(way);
    return {
      name,
      way,
      cpu: rounded(median(seen[way].map(({ cpu }) => cpu))),
      median: rounded(median(times)),
      min: rounded(Math.min(...times)),
      ratio: rounded(median(times.map((time, index) => time / floor[index]))),
      ratioOfMins: rounded(Math.min(...times) / Math.min(...floor)),
    };
  });
};

try {
  const figures = [];
  for (const job of JOBS.filter(([name]) => name.includes(only))) {
    const rows = await measure(job);
    figures.push(...rows);
    if (isJson) continue;
    for (const { name, way, median: middle, min, ratio, ratioOfMins, cpu } of rows) {
      console.log(
        `${name.padEnd(26)} ${way.padEnd(14)} ${ratio.toFixed(2)} × (mins ${ratioOfMins.toFixed(2)})  ${Math.round(middle)} ms, min ${Math.round(min)}, of cast's own ${Math.round(cpu)}`,
      );
    }
  }
  if (isJson) console.log(JSON.stringify({ node: process.version, repeat, figures }, null, 2));
} finally {
  for (const session of Object.values(sessions)) await session.close();
  rmSync(workshop, { recursive: true, force: true });
}
