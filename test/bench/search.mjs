/**
 * What searching and listing cost: `node test/bench/search.mjs [--messages N] [--sessions N] [--json]`. A store of a million messages in 10,000
 * sessions is made through prepared statements, in the form that an append writes; then the store itself is asked.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const valueOf = (flag, otherwise) => Number(process.argv[process.argv.indexOf(flag) + 1] * Number(process.argv.includes(flag))) || otherwise;
const isJson = process.argv.includes('--json');
const MESSAGES = valueOf('--messages', 1_000_000);
const SESSIONS = valueOf('--sessions', Math.ceil(MESSAGES / 100));
const REPEAT = 9;
/** A common word begins with a common beginning; a rare one is in one message of 50,000. */
const QUERIES = {
  'a common word': 'the',
  'a common beginning': 'conf',
  'a rare word': 'zanzibar',
  'two words': 'config zanzibar',
  'two common words': 'the config',
  'a phrase': 'out of memory',
  'two characters of Chinese': '登录',
  'a part of a word': 'nfigur',
  'a rare part of a word': 'anziba',
  'nothing at all': 'xyzzyqwrt',
};

const folder = mkdtempSync(join(tmpdir(), 'cast-bench-search-'));
symlinkSync(here('../../node_modules'), join(folder, 'node_modules'));
const outfile = join(folder, 'store.mjs');
const entry =
  "export { createSqliteStore } from './plugins/sessions-sqlite/store.ts'; export { indexText } from './plugins/sessions-sqlite/search-index.ts'; export { connectTo } from './plugins/sessions-sqlite/database.ts';";
await build({
  stdin: { contents: entry, resolveDir: here('../..'), loader: 'ts' },
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  external: ['better-sqlite3'],
  nodePaths: [here('../../node_modules')],
  banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(import.meta.url)});` },
});
const { createSqliteStore, connectTo, indexText } = await import(outfile);

let seed = 42;
const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
const PARTS = ['con', 'fig', 're', 'ta', 'lo', 'mi', 'ser', 'ver', 'pa', 'to', 'ken', 'in', 'dex', 'ur', 'ex', 'port', 'al', 'be', 'da', 'ra', 'com', 'mon'];
const words = Array.from({ length: 20_000 }, () =>
  Array.from({ length: 1 + Math.floor(random() * 4) }, () => PARTS[Math.floor(random() * PARTS.length)]).join(''),
);
const textOf = (number) => {
  const parts = ['the'];
  const length = 8 + Math.floor(random() * 60);
  for (let count = 0; count < length; count += 1) parts.push(words[Math.floor(words.length * random() ** 3)]);
  if (number % 3 === 0) parts.push('configuration');
  if (number % 50_000 === 7) parts.push('zanzibar');
  if (number % 700 === 5) parts.push('out of memory');
  if (number % 40 === 3) parts.push('修复登录页面的错误');
  return parts.join(' ');
};

const home = join(folder, 'home');
mkdirSync(home);
const clock = { now: () => Date.now(), sleep: async () => {} };
const open = () => createSqliteStore({ home, clock, onWarning: (text) => console.error(text) });
const record = (id) => ({ id, cwd: '/p/src', root: '/p', title: '', model: 'm', provider: 'p', parent: null, kind: 'conversation', createdAt: 1 });
const message = (seq, parent, text) => ({
  id: `e${seq}`,
  parent,
  seq,
  at: seq,
  kind: 'message',
  data: { role: 'user', origin: 'user', blocks: [{ type: 'text', text }] },
});
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const timed = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** An append of one message, 300 of them, in a session of its own. */
const appends = async (id) => {
  const store = open();
  await store.create(record(id));
  const lease = await store.claim(id);
  const times = [];
  for (let seq = 1; seq <= 300; seq += 1) {
    const batch = [message(seq, seq > 1 ? `e${seq - 1}` : null, textOf(seq * 11))];
    times.push(await timed(() => store.append(id, batch, { epoch: lease.epoch })));
  }
  await lease.release();
  await store.close();
  times.sort((a, b) => a - b);
  return { median: times[150], most: times[296] };
};

try {
  const results = {};
  results['append, small store'] = await appends('first');
  const file = join(home, 'sessions', 'sessions.db');
  const connection = connectTo(file);
  const { db } = connection;
  db.pragma('synchronous = OFF');
  db.pragma('foreign_keys = OFF');
  const perSession = Math.ceil(MESSAGES / SESSIONS);
  const session = db.prepare(
    "INSERT INTO sessions (id, cwd, root, title, model, provider, kind, head, last_seq, messages, created_at, updated_at) VALUES (?, ?, ?, ?, 'm', 'p', 'conversation', ?, ?, ?, ?, ?)",
  );
  const entries = db.prepare("INSERT INTO entries (id, session_id, parent_id, seq, kind, created_at, data_json) VALUES (?, ?, ?, ?, 'message', ?, ?)");
  const messages = db.prepare("INSERT INTO messages (session_id, seq, entry_id, role, created_at, content_json) VALUES (?, ?, ?, 'user', ?, ?)");
  let id = db.prepare('SELECT max(id) FROM search_messages').pluck().get() ?? 4_294_967_296;
  const write = (index, texts) => {
    const name = `s${index.toString(36).padStart(6, '0')}`;
    const root = `/work/project-${index % 100}`;
    session.run(name, root, root, texts[0].slice(0, 60), `e${texts.length}`, texts.length, texts.length, index, index);
    texts.forEach((text, at) => {
      const { id: entryId, parent, seq, data } = message(at + 1, at > 0 ? `e${at}` : null, text);
      entries.run(entryId, name, parent, seq, index, JSON.stringify(data));
      messages.run(name, seq, entryId, index, JSON.stringify({ content: text, role: 'user', origin: 'user', blocks: [] }));
    });
    return name;
  };
  const all = Array.from({ length: SESSIONS }, (_, index) => index);
  let number = 0;
  const startedAt = performance.now();
  for (let from = 0; from < all.length; from += 100) {
    connection.atomic(() => {
      for (const index of all.slice(from, from + 100)) {
        const texts = Array.from({ length: perSession }, () => textOf((number += 1)));
        const name = write(index, texts);
        for (const [at, text] of texts.entries()) indexText(connection, (id += 1), name, at + 1, text);
      }
    });
  }
  results['built in seconds'] = (performance.now() - startedAt) / 1_000;
  db.pragma('wal_checkpoint(TRUNCATE)');
  const indexBytes = db.prepare("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search%' OR name LIKE 'sqlite_autoindex_search%'").pluck().get();
  results['bytes of a message'] = { all: statSync(file).size / number, search: indexBytes / number };
  db.close();

  const store = open();
  results['opening'] = await timed(() => store.get('s000001'));
  for (const [name, text] of Object.entries(QUERIES)) {
    const first = await timed(() => store.search({ text, limit: 20 }));
    const times = [];
    for (let count = 0; count < REPEAT; count += 1) times.push(await timed(() => store.search({ text, limit: 20 })));
    const { hits } = await store.search({ text, limit: 20 });
    const inProject = await timed(() => store.search({ text, limit: 20, root: '/work/project-7' }));
    results[name] = { first, median: median(times), most: Math.max(...times), inProject, hits: hits.length };
  }
  const listing = [];
  let listed = 0;
  for (let count = 0; count < REPEAT; count += 1)
    listing.push(await timed(async () => (listed = (await store.list({ kind: 'conversation', limit: 10_000 })).length)));
  results['listing'] = { sessions: listed, first: listing[0], median: median(listing) };
  await store.close();
  results['append, large store'] = await appends('last');
  const show = (value) =>
    typeof value === 'number'
      ? value.toFixed(2)
      : Object.entries(value)
          .map(([key, each]) => `${key} ${each.toFixed(2)}`)
          .join('  ');
  if (isJson) console.log(JSON.stringify(results, null, 2));
  else for (const [name, value] of Object.entries(results)) console.log(`${name.padEnd(28)} ${show(value)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
