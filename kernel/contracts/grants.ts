/** What a person has allowed. */
export interface Grant {
  /** `tool` or `tool(pattern)`. */
  readonly rule: string;
  readonly decision: 'allow' | 'deny';
  readonly from: 'session' | 'project' | 'user' | 'flags' | 'config';
}
export interface GrantsService {
  list(): readonly Grant[];
  add(grant: Grant): Promise<void>;
}
