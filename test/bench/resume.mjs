/**
 * What going on with a long session costs: `node test/bench/resume.mjs [--json] [--repeat N]`. A session of 100 messages and one of 100,000
 * stand beside a new one: time from the start of the process to its first request, and the peak of its memory. Compacted every 1,000 messages,
 * as it would be, and with a snapshot where cast writes one.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { startServer } from './server.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const CLI = here('../../dist/cli.js');
const isJson = process.argv.includes('--json');
const repeat = Number(process.argv[process.argv.indexOf('--repeat') + 1]) || 15;
const SIZES = { short: 100, long: 100_000 };
/** Messages between two compactions, and entries between two snapshots. */
const COMPACTED = 1_000;
const SNAPSHOT = 512;

if (!existsSync(CLI)) {
  console.error('There is no dist/cli.js to measure. Build it first: npm run build');
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'cast-bench-resume-'));
const server = await startServer();
const environment = {
  PATH: process.env.PATH,
  HOME: folder,
  CAST_HOME: join(folder, 'home'),
  CAST_BASE_URL: server.url,
  CAST_API_KEY: 'bench',
  CAST_NO_DAEMON: '1',
  CAST_SANDBOX: 'off',
  CAST_JUDGE: 'off',
};

const run = async (...flags) => {
  server.reset();
  const usageFile = join(folder, 'usage');
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--require', here('usage.cjs'), CLI, 'run', '-m', 'one', '--format', 'json', ...flags, 'go'], {
    cwd: folder,
    env: { ...environment, BENCH_USAGE: usageFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`cast ended with ${code}`);
  return { firstRequest: server.arrivals()[0] - startedAt, memory: JSON.parse(readFileSync(usageFile, 'utf8')).memory, session: JSON.parse(output).sessionId };
};

/** Makes a session that was just begun a long one, in the form in which cast writes it. */
const lengthen = (session, messages) => {
  const db = new Sqlite(join(environment.CAST_HOME, 'sessions', 'sessions.db'));
  const { last, head } = db.prepare('SELECT last_seq AS last, head FROM sessions WHERE id = ?').get(session);
  const addEntry = db.prepare('INSERT INTO entries (id, session_id, parent_id, seq, kind, created_at, data_json) VALUES (?, ?, ?, ?, ?, ?, ?)');
  const addMessage = db.prepare('INSERT INTO messages (session_id, seq, entry_id, role, in_context, created_at, content_json) VALUES (?, ?, ?, ?, ?, ?, ?)');
  let [seq, parent, sinceSnapshot] = [last, head, 0];
  const add = (kind, data) => {
    seq += 1;
    const id = `bench-${seq}`;
    addEntry.run(id, session, parent, seq, kind, 1, JSON.stringify(data));
    if (kind === 'message') addMessage.run(session, seq, id, data.role, 0, 1, JSON.stringify({ content: data.blocks[0].text, ...data }));
    parent = id;
    return id;
  };
  db.transaction(() => {
    for (let turn = 2; turn * 2 < messages; turn += 1) {
      const first = seq;
      add('turn', { turn, phase: 'start' });
      const prompt = add('message', {
        role: 'user',
        origin: 'user',
        blocks: [{ type: 'text', text: `Question ${turn} about one of the files of this project` }],
      });
      add('message', { role: 'assistant', origin: 'model', blocks: [{ type: 'text', text: `Answer ${turn}: ${'it is said in many words. '.repeat(12)}` }] });
      if (turn % (COMPACTED / 2) === 0)
        add('compaction', { summary: 'What was said.', keepFrom: prompt, reason: 'threshold', tokensBefore: 9, tokensAfter: 1 });
      add('turn', { turn, phase: 'end', reason: 'answered' });
      sinceSnapshot += seq - first;
      if (sinceSnapshot >= SNAPSHOT) {
        add('snapshot', { turn, states: {}, unfolded: [] });
        sinceSnapshot = 0;
      }
    }
    db.prepare('UPDATE sessions SET head = ?, last_seq = ?, messages = ? WHERE id = ?').run(parent, seq, messages, session);
  })();
  const bytes = db.prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()').get().bytes;
  db.close();
  return { entries: seq, bytes };
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  const sessions = {};
  const sizes = {};
  for (const [name, messages] of Object.entries(SIZES)) {
    sessions[name] = (await run()).session;
    sizes[name] = lengthen(sessions[name], messages);
  }
  const runs = { new: [], short: ['-s', sessions.short], long: ['-s', sessions.long] };
  const seen = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
  for (let index = 0; index < repeat; index += 1) for (const [name, flags] of Object.entries(runs)) seen[name].push(await run(...flags));
  const figures = Object.fromEntries(
    Object.entries(seen).map(([name, outcomes]) => [
      name,
      {
        firstRequestMs: Math.round(median(outcomes.map(({ firstRequest }) => firstRequest))),
        leastMs: Math.round(Math.min(...outcomes.map(({ firstRequest }) => firstRequest))),
        memoryMiB: Math.round(median(outcomes.map(({ memory }) => memory)) / 1024),
      },
    ]),
  );
  if (isJson) console.log(JSON.stringify({ repeat, sizes, figures }, null, 2));
  else {
    console.log(`${sizes.long.entries} entries, ${Math.round(sizes.long.bytes / 1024 ** 2)} MiB; medians of ${repeat} runs`);
    for (const [name, { firstRequestMs, leastMs, memoryMiB }] of Object.entries(figures)) {
      const over = name === 'new' ? '' : `, ${firstRequestMs - figures.new.firstRequestMs} ms over a new session`;
      console.log(`${name.padEnd(6)} first request after ${firstRequestMs} ms (least ${leastMs})${over}; ${memoryMiB} MiB`);
    }
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
