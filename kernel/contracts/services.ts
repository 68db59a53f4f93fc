/** How plugins depend on each other without importing: an interface here, `provides` and `uses` in manifests, `services.get` at run time. */
import type { CompactionService } from './compaction.ts';
import type { GrantsService } from './grants.ts';
import type { ModeService } from './mode.ts';
import type { ShellService } from './shell.ts';
import type { UsageService } from './usage.ts';

/** Widened by third parties through declaration merging. */
export interface Services {
  shell: ShellService;
  grants: GrantsService;
  usage: UsageService;
  compaction: CompactionService;
  mode: ModeService;
}
