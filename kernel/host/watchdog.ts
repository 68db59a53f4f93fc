/** A thread that notices when the event loop is blocked: names the plugin that has it, and ends the process after a while. */
import { mkdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { watchRuns, type Passage, type Running } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import { blockedFile } from './blocked.ts';

export interface Watchdog {
  stop(): Promise<void>;
}

const BEAT_MS = 250;
/** Bytes for one name. */
const NAME_BYTES = 512;
/** Heartbeat, length of the first name, length of the second; each an Int32. */
const HEAD_BYTES = 12;
/** How many that never settle are remembered. */
const UNDER_WAY = 64;

/** `limitMs` is how long the loop may be blocked. */
export const startWatchdog = (home: string, limitMs: number = LIMITS.blockedMs): Watchdog => {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const shared = new SharedArrayBuffer(HEAD_BYTES + 2 * NAME_BYTES);
  const head = new Int32Array(shared, 0, 3);
  const worker = new Worker(WATCH, { eval: true, workerData: { shared, limitMs, beatMs: BEAT_MS, file: blockedFile(home), pid: process.pid } });
  worker.unref();
  const timer = setInterval(() => Atomics.add(head, 0, 1), BEAT_MS);
  timer.unref();
  const unwatch = watchRuns(follow(shared, head));
  return {
    stop: async () => {
      unwatch();
      clearInterval(timer);
      await worker.terminate();
    },
  };
};

/** Keeps two names in shared memory: who has the thread, and who was entered last of those under way. */
const follow = (shared: SharedArrayBuffer, head: Int32Array): ((running: Running) => Passage) => {
  const encoder = new TextEncoder();
  const names = [new Uint8Array(shared, HEAD_BYTES, NAME_BYTES), new Uint8Array(shared, HEAD_BYTES + NAME_BYTES, NAME_BYTES)] as const;
  const write = (at: 0 | 1, running: Running | undefined): void => {
    const text = running ? `${running.plugin}\n${running.where}: ${running.label}` : '';
    Atomics.store(head, at + 1, encoder.encodeInto(text, names[at]).written);
  };
  /** Inside one another, in one go of the event loop. */
  const inside: Running[] = [];
  const underWay = new Set<Running>();
  return (given) => {
    // One object may be run twice at the same time.
    const running = { ...given };
    inside.push(running);
    underWay.add(running);
    const [oldest] = underWay;
    if (oldest && underWay.size > UNDER_WAY) underWay.delete(oldest);
    write(0, running);
    write(1, running);
    return {
      left: () => {
        inside.pop();
        write(0, inside.at(-1));
      },
      ended: () => {
        underWay.delete(running);
        write(1, [...underWay].at(-1));
      },
    };
  };
};

// Runs in the worker. It counts its own ticks, not the time of day: a machine that slept was not blocked.
// SIGKILL, because a blocked loop hears nothing else; the groups of children have reapers of their own.
const WATCH = `
const { workerData: { shared, limitMs, beatMs, file, pid } } = require('node:worker_threads');
const { writeFileSync, writeSync } = require('node:fs');
const head = new Int32Array(shared, 0, 3);
const nameAt = (index) => {
  const at = ${HEAD_BYTES} + index * ${NAME_BYTES};
  const length = Atomics.load(head, index + 1);
  return length === 0 ? undefined : new TextDecoder().decode(new Uint8Array(shared).slice(at, at + length)).split('\\n');
};
const end = () => {
  const current = nameAt(0);
  const named = current ?? nameAt(1);
  const seconds = Math.round(limitMs / 1000) + ' s; it is ended.';
  const off = ' The plugin stays off at the next start.';
  let text = 'cast: the process has been blocked for ' + seconds + ' No plugin was under way.';
  if (named) {
    const [plugin, where] = named;
    const who = 'plugin ' + plugin + ' (' + where + ')';
    try { writeFileSync(file, JSON.stringify({ plugin, where, at: Date.now(), isSuspect: !current }), { mode: 0o600 }); } catch {}
    text = current ? 'cast: ' + who + ' has blocked the process for ' + seconds + off : 'cast: the process has been blocked for ' + seconds + ' The last under way was ' + who + '.' + off;
  }
  try { writeSync(2, text + '\\n'); } catch {}
  process.kill(pid, 'SIGKILL');
};
let last = Atomics.load(head, 0);
let still = 0;
setInterval(() => {
  const now = Atomics.load(head, 0);
  still = now === last ? still + beatMs : 0;
  last = now;
  if (still >= limitMs) end();
}, beatMs);
`;
