/** Every plugin that comes with cast, by name. Manifests are read at each start; code is loaded when it is triggered. */
import type { Manifest, PluginRef } from '../kernel/index.ts';
import { manifest as bash } from '../plugins/bash/manifest.ts';
import { manifest as budget } from '../plugins/budget/manifest.ts';
import { manifest as checkpoints } from '../plugins/checkpoints/manifest.ts';
import { manifest as compaction } from '../plugins/compaction/manifest.ts';
import { manifest as context } from '../plugins/context/manifest.ts';
import { manifest as fallback } from '../plugins/fallback/manifest.ts';
import { manifest as files } from '../plugins/files/manifest.ts';
import { manifest as identity } from '../plugins/identity/manifest.ts';
import { manifest as images } from '../plugins/images/manifest.ts';
import { manifest as permissions } from '../plugins/permissions/manifest.ts';
import { manifest as providers } from '../plugins/providers/manifest.ts';
import { manifest as question } from '../plugins/question/manifest.ts';
import { manifest as reminders } from '../plugins/reminders/manifest.ts';
import { manifest as replay } from '../plugins/replay/manifest.ts';
import { manifest as search } from '../plugins/search/manifest.ts';
import { manifest as sessionJsonl } from '../plugins/session-jsonl/manifest.ts';
import { manifest as sessions } from '../plugins/sessions/manifest.ts';
import { manifest as sessionsSqlite } from '../plugins/sessions-sqlite/manifest.ts';
import { manifest as shell } from '../plugins/shell/manifest.ts';
import { manifest as todo } from '../plugins/todo/manifest.ts';
import { manifest as usage } from '../plugins/usage/manifest.ts';
import { manifest as web } from '../plugins/web/manifest.ts';

const builtin = (manifest: Manifest, load: PluginRef['load']): PluginRef => ({ manifest, builtin: true, source: 'built in', load });

export const builtins: readonly PluginRef[] = [
  builtin(bash, () => import('../plugins/bash/index.ts')),
  builtin(budget, () => import('../plugins/budget/index.ts')),
  builtin(checkpoints, () => import('../plugins/checkpoints/index.ts')),
  builtin(compaction, () => import('../plugins/compaction/index.ts')),
  builtin(context, () => import('../plugins/context/index.ts')),
  builtin(fallback, () => import('../plugins/fallback/index.ts')),
  builtin(files, () => import('../plugins/files/index.ts')),
  builtin(identity, () => import('../plugins/identity/index.ts')),
  builtin(images, () => import('../plugins/images/index.ts')),
  builtin(permissions, () => import('../plugins/permissions/index.ts')),
  builtin(providers, () => import('../plugins/providers/index.ts')),
  builtin(question, () => import('../plugins/question/index.ts')),
  builtin(reminders, () => import('../plugins/reminders/index.ts')),
  builtin(replay, () => import('../plugins/replay/index.ts')),
  builtin(search, () => import('../plugins/search/index.ts')),
  builtin(sessionJsonl, () => import('../plugins/session-jsonl/index.ts')),
  builtin(sessions, () => import('../plugins/sessions/index.ts')),
  builtin(sessionsSqlite, () => import('../plugins/sessions-sqlite/index.ts')),
  builtin(shell, () => import('../plugins/shell/index.ts')),
  builtin(todo, () => import('../plugins/todo/index.ts')),
  builtin(usage, () => import('../plugins/usage/index.ts')),
  builtin(web, () => import('../plugins/web/index.ts')),
];
