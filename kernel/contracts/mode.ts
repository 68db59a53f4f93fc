/** How the agent works at the moment. Brought by whoever lets the user choose. */
export interface ModeService {
  /** `build`, `plan`, or a mode of one's own. */
  current(): string;
  /** Path of the file in which the plan is written, where there is one. */
  planFile(): string | undefined;
}
