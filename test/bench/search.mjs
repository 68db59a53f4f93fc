/**
 * What a search costs in a store of many messages: `node test/bench/search.mjs [--json] [--messages N]`. The store is filled in the form in
 * which cast writes it, indexed by searches as they come, and then asked. `cast sessions list` over 10,000 sessions stands beside `node -e 0`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { build } from 'esbuild';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const CLI = join(DIST, 'cli.js');
const isJson = process.argv.includes('--json');
const MESSAGES = Number(process.argv[process.argv.indexOf('--messages') + 1]) || 1_000_000;
const SESSIONS = 10_000;
const WORDS = 30;

if (!existsSync(CLI)) {
  console.error('There is no dist/cli.js to measure. Build it first: npm run build');
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'cast-bench-search-'));
const home = join(folder, 'home');
const say = isJson ? () => undefined : console.log;

// ---- a store ----

/** Bundled beside the packages that it finds from there. */
const openStore = async () => {
  const file = join(DIST, '..', '.cache', `bench-store-${process.pid}.mjs`);
  await build({
    entryPoints: [join(DIST, '..', 'plugins', 'sessions-sqlite', 'store.ts')],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['better-sqlite3'],
    logLevel: 'silent',
  });
  try {
    const { createSqliteStore } = await import(file);
    return createSqliteStore({ home, clock: { now: () => Date.now(), sleep: async () => undefined }, onWarning: console.error });
  } finally {
    rmSync(file);
  }
};

/** Words as languages have them: few that are everywhere, many that are nowhere. */
let seed = 7;
const random = () => {
  seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
  return seed / 0x7fffffff;
};
const SYLLABLES = ['ka', 'lo', 'mi', 'ren', 'tu', 'sha', 'vor', 'pel', 'din', 'gra', 'ho', 'wex', 'zu', 'bri', 'fan', 'quo'];
const VOCABULARY = Array.from({ length: 40_000 }, (_, index) => {
  let word = '';
  for (let rest = index + 16; rest > 0; rest = Math.floor(rest / 16)) word += SYLLABLES[rest % 16];
  return word;
});
const textOf = () => Array.from({ length: WORDS }, () => VOCABULARY[Math.floor(random() ** 3 * VOCABULARY.length)]).join(' ');

const projectOf = (number) => join(folder, `project-${number % 40}`);

const fill = () => {
  const db = new Sqlite(join(home, 'sessions', 'sessions.db'));
  const addSession = db.prepare(
    "INSERT INTO sessions (id, cwd, root, title, model, provider, kind, head, last_seq, messages, created_at, updated_at) VALUES (?, ?, ?, ?, 'model', '', 'conversation', ?, ?, ?, ?, ?)",
  );
  const addEntry = db.prepare("INSERT INTO entries (id, session_id, parent_id, seq, kind, created_at, data_json) VALUES (?, ?, ?, ?, 'message', ?, ?)");
  const addMessage = db.prepare('INSERT INTO messages (session_id, seq, entry_id, role, in_context, created_at, content_json) VALUES (?, ?, ?, ?, 1, ?, ?)');
  const each = Math.ceil(MESSAGES / SESSIONS);
  for (let first = 0; first < SESSIONS; first += 500) {
    db.transaction(() => {
      for (let number = first; number < first + 500; number += 1) {
        const id = `bench${String(number).padStart(6, '0')}`;
        const at = 1_700_000_000_000 + number * 1_000_000;
        addSession.run(id, projectOf(number), projectOf(number), textOf().slice(0, 60), `e${each}`, each, each, at, at + each * 1_000);
        for (let seq = 1; seq <= each; seq += 1) {
          const role = seq % 2 === 1 ? 'user' : 'assistant';
          const extra = seq % 500 === 0 ? ' 日本語の検索' : '';
          const content = textOf() + extra;
          const origin = role === 'user' ? 'user' : 'model';
          addEntry.run(
            `e${seq}`,
            id,
            seq === 1 ? null : `e${seq - 1}`,
            seq,
            at + seq * 1_000,
            JSON.stringify({ role, origin, blocks: [{ type: 'text', text: content }] }),
          );
          addMessage.run(id, seq, `e${seq}`, role, at + seq * 1_000, JSON.stringify({ content, role, origin, blocks: [] }));
        }
      }
    })();
  }
  db.close();
};

const sizeOf = (name) => statSync(join(home, 'sessions', name)).size;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const timed = async (work) => {
  const startedAt = performance.now();
  const value = await work();
  return [performance.now() - startedAt, value];
};
const run = (args) =>
  timed(
    () =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, args, {
          cwd: folder,
          env: { PATH: process.env.PATH, HOME: folder, CAST_HOME: home },
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${args.join(' ')} ended with ${code}`))));
      }),
  );

try {
  const store = await openStore();
  await store.list({ limit: 1 });
  const [filled] = await timed(async () => fill());
  say(`${MESSAGES} messages in ${SESSIONS} sessions, filled in ${Math.round(filled / 1000)} s`);
  const before = sizeOf('sessions.db');
  let rounds = 0;
  const [indexed] = await timed(async () => {
    for (;;) {
      rounds += 1;
      const { hasMore } = await store.search({ text: 'zzzz', limit: 1 });
      if (!hasMore) return;
    }
  });
  const bytes = sizeOf('search.db');
  say(
    `indexed in ${Math.round(indexed / 1000)} s by ${rounds} searches; ${Math.round(before / MESSAGES)} bytes a message in the store, ${Math.round(bytes / MESSAGES)} in the index`,
  );

  const [common, usual, rare] = [VOCABULARY[0], VOCABULARY[400], VOCABULARY[39_000]];
  const QUERIES = {
    'a word in every third message': common,
    'a usual word': usual,
    'a rare word': rare,
    'two words': `${common} ${usual}`,
    'three words': `${usual} ${VOCABULARY[700]} ${VOCABULARY[60]}`,
    'five words': [400, 700, 60, 1000, 90].map((index) => VOCABULARY[index]).join(' '),
    'a phrase': `"${VOCABULARY[1]} ${VOCABULARY[0]}"`,
    'a letter': rare.slice(0, 1),
    'two letters': rare.slice(0, 2),
    'the beginning of a word': rare.slice(0, 5),
    'a part of a word': rare.slice(2, 9),
    ideographs: '検索',
    nothing: 'nosuchword',
    'a word, in one project': common,
    'a letter, in one project': rare.slice(0, 1),
  };
  const figures = {};
  for (const [name, text] of Object.entries(QUERIES)) {
    const times = [];
    let hits = 0;
    for (let round = 0; round < 7; round += 1) {
      const place = name.endsWith('in one project') ? { root: projectOf(7) } : {};
      const [time, result] = await timed(() => store.search({ text, limit: 50, ...place }));
      times.push(time);
      hits = result.hits.length;
    }
    figures[name] = { ms: Math.round(median(times.slice(1)) * 10) / 10, firstMs: Math.round(times[0] * 10) / 10, hits };
    say(`${name.padEnd(32)} ${String(figures[name].ms).padStart(7)} ms (the first ${figures[name].firstMs} ms), ${hits} sessions`);
  }
  const listings = [];
  for (let round = 0; round < 7; round += 1) listings.push((await timed(() => store.list({ kind: 'conversation', limit: SESSIONS })))[0]);
  const nothing = [];
  const list = [];
  for (let round = 0; round < 7; round += 1) {
    nothing.push((await run(['-e', '0']))[0]);
    list.push((await run([CLI, 'sessions', 'list', '--all']))[0]);
  }
  await store.close();
  const listing = { all10000Ms: Math.round(median(listings.slice(1)) * 10) / 10, commandMs: Math.round(median(list)), nodeMs: Math.round(median(nothing)) };
  say(`all ${SESSIONS} sessions listed in ${listing.all10000Ms} ms; cast sessions list --all: ${listing.commandMs} ms, node -e 0: ${listing.nodeMs} ms`);
  if (isJson)
    console.log(
      JSON.stringify({ messages: MESSAGES, bytesAMessage: { store: before / MESSAGES, index: bytes / MESSAGES }, indexed, figures, listing }, null, 2),
    );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
