/** `import … from 'cast/testkit'`: a real session on a scripted provider, and what every plugin must withstand. */
export { createMemoryStore } from '../session/memory-store.ts';
export { countingIds, manualClock } from './clock.ts';
export type { ManualClock } from './clock.ts';
export { conformance } from './conformance.ts';
export type { ConformanceCheck, ConformanceOptions } from './conformance.ts';
export { fail, hang, say, scriptedProvider, think, use } from './script.ts';
export type { Beat, ScriptedProvider } from './script.ts';
export { createTestSession } from './session.ts';
export type { TestSession, TestSessionOptions } from './session.ts';
