/** The public face: all that a plugin may import. */
export * from './data.ts';
export * from './errors.ts';
export type * from './events.ts';
export type * from './contracts/client.ts';
export type * from './contracts/config.ts';
export type * from './contracts/grants.ts';
export type * from './contracts/kernel.ts';
export type * from './contracts/powers.ts';
export type * from './contracts/report.ts';
export type * from './contracts/services.ts';
export type * from './contracts/shell.ts';
export type * from './contracts/store.ts';
export type * from './contracts/usage.ts';
export type { CallHooks, FaultPolicy, HookClass, HookName, Hooks, Later, Stage } from './hooks/catalogue.ts';
export type * from './hooks/subjects.ts';
export * from './images.ts';
export * from './model-ref.ts';
export * from './plugin.ts';
export { checkedBy, describeIssue, jsonSchema, validate } from './schema.ts';
export type { In, JsonSchema, JsonSchemaSource, Out, Schema, SchemaIssue, SchemaOutcome } from './schema.ts';
export { isToolError, ToolError } from './tool-error.ts';
export { estimateMessage, estimateRequest, estimateText } from './tokens.ts';
export { foldText, saidIn, wordsIn } from './session/searchable.ts';
export type { Candidate, MetadataHit, Query, Term } from './session/text-search.ts';
/** For stores: what a query asks for, how hits are ranked, and what is shown of them. Loaded by the first search. */
export const loadTextSearch = (): Promise<typeof import('./session/text-search.ts')> => import('./session/text-search.ts');
