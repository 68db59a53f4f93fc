/** A thread that notices when the event loop is blocked: names the tap that has it, and ends the process after a while. */
import { mkdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { LIMITS } from '../limits.ts';
import { blockedFile } from './blocked.ts';

export interface Watchdog {
  enter(plugin: string, where: string): void;
  leave(): void;
  stop(): Promise<void>;
}

const BEAT_MS = 250;
/** Bytes for the name of what runs now. */
const NAME_BYTES = 512;

/** `limitMs` is how long the loop may be blocked. */
export const startWatchdog = (home: string, limitMs: number = LIMITS.blockedMs): Watchdog => {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const shared = new SharedArrayBuffer(8 + NAME_BYTES);
  const beat = new Int32Array(shared, 0, 2);
  const name = new Uint8Array(shared, 8);
  const encoder = new TextEncoder();
  const worker = new Worker(WATCH, { eval: true, workerData: { shared, limitMs, beatMs: BEAT_MS, file: blockedFile(home), pid: process.pid } });
  worker.unref();
  const timer = setInterval(() => Atomics.add(beat, 0, 1), BEAT_MS);
  timer.unref();
  return {
    enter: (plugin, where) => {
      const written = encoder.encodeInto(`${plugin}\n${where}`.slice(0, NAME_BYTES / 3), name).written;
      Atomics.store(beat, 1, written);
    },
    leave: () => void Atomics.store(beat, 1, 0),
    stop: async () => {
      clearInterval(timer);
      await worker.terminate();
    },
  };
};

// Runs in the worker. SIGKILL, because a blocked loop hears nothing else; the groups of children have reapers of their own.
const WATCH = `
const { workerData: { shared, limitMs, beatMs, file, pid } } = require('node:worker_threads');
const { writeFileSync, writeSync } = require('node:fs');
const beat = new Int32Array(shared, 0, 2);
const name = new Uint8Array(shared, 8);
let last = Atomics.load(beat, 0);
let since = Date.now();
setInterval(() => {
  const now = Atomics.load(beat, 0);
  if (now !== last) { last = now; since = Date.now(); return; }
  if (Date.now() - since < limitMs) return;
  const length = Atomics.load(beat, 1);
  if (length === 0) { since = Date.now(); return; }
  const [plugin, where] = new TextDecoder().decode(name.slice(0, length)).split('\\n');
  try { writeFileSync(file, JSON.stringify({ plugin, where, at: Date.now() }), { mode: 0o600 }); } catch {}
  try { writeSync(2, 'cast: plugin ' + plugin + ' (' + where + ') has blocked the process for ' + Math.round(limitMs / 1000) + ' s; it is ended. The plugin stays off at the next start.\\n'); } catch {}
  process.kill(pid, 'SIGKILL');
}, beatMs);
`;
