/** Another process at work on the store: `node child.mjs TASK HOME [SESSION] [ROUNDS]`. Prints what its test waits for. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Entry, Store } from '../../../kernel/index.ts';
import { createSqliteStore } from '../../../plugins/sessions-sqlite/store.ts';

const [task = '', home = '', session = '', rounds = '1'] = process.argv.slice(2);
const clock: Clock = { now: () => Date.now(), sleep: (ms) => delay(ms) };
const store = createSqliteStore({ home, clock, onWarning: (text) => process.stderr.write(`${text}\n`) });
const say = (text: string): boolean => process.stdout.write(`${text}\n`);

const create = (id: string): unknown =>
  store.create({ id, cwd: '/p', root: '/p', title: '', model: 'm', provider: 'p', parent: null, kind: 'conversation', createdAt: clock.now() });

const appendTwo = async (lease: Awaited<ReturnType<Store['claim']>>): Promise<void> => {
  const entry = (seq: number, parent: string | null): Entry => ({
    kind: 'message',
    data: { role: 'user', origin: 'user', blocks: [{ type: 'text', text: `${process.pid} ${seq} ${'x'.repeat(200)}` }] },
    id: `${process.pid}-${seq}`,
    parent,
    seq,
    at: clock.now(),
  });
  const first = entry(lease.lastSeq + 1, lease.head);
  await store.append(session, [first, entry(first.seq + 1, first.id)], { epoch: lease.epoch });
};

const claimPatiently = async (): Promise<Awaited<ReturnType<Store['claim']>>> => {
  for (;;) {
    try {
      return await store.claim(session);
    } catch (error) {
      if ((error as { code?: string }).code !== 'SESSION_BUSY') throw error;
      await delay(2);
    }
  }
};

const tasks: Record<string, () => Promise<void>> = {
  /** A session of its own, `rounds` turns of two entries. */
  async write() {
    await create(session);
    for (let round = 0; round < Number(rounds); round += 1) {
      const lease = await store.claim(session);
      await appendTwo(lease);
      await lease.release();
    }
    await store.close();
    say('done');
  },
  /** Turns in a session that others want as well. */
  async contend() {
    for (let round = 0; round < Number(rounds); round += 1) {
      const lease = await claimPatiently();
      await appendTwo(lease);
      await delay(1);
      await lease.release();
    }
    await store.close();
    say('done');
  },
  /** Holds the lease until it is killed. */
  async hold() {
    const lease = await store.claim(session);
    await appendTwo(lease);
    say(`held ${lease.epoch}`);
    await delay(60_000);
  },
  /** Begins a session as a user who owns nothing; `session` names a home in which all code is loaded before. */
  async stranger() {
    await createSqliteStore({ home: session, clock, onWarning: say }).get('s1');
    if (process.getuid?.() === 0) process.setuid?.(65_534);
    await create('s1');
    say('no error');
  },
  /** Begins a session and writes until it cannot. */
  async fill() {
    await create(session);
    const lease = await store.claim(session);
    for (let written = lease.lastSeq; written < 100_000; written += 2) await appendTwo({ ...lease, lastSeq: written });
    say('no error');
  },
};

try {
  await tasks[task]?.();
  process.exit(0);
} catch (error) {
  const { code, message, fix } = error as { code?: string; message?: string; fix?: string };
  say(`${code}: ${message} ${fix ?? ''}`);
  process.exit(1);
}
