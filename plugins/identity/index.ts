/** The two sections that every prompt has. Both hold still: the same session gives the same bytes whenever it is resumed. */
import { definePlugin } from '../../kernel/index.ts';
import { describeEnvironment } from './environment.ts';
import { manifest } from './manifest.ts';
import { IDENTITY } from './wording.ts';

export default definePlugin({
  ...manifest,
  apply({ registries, session, environment }) {
    registries.sections.add({ name: 'identity', slot: 'identity', text: () => IDENTITY });
    registries.sections.add({ name: 'environment', slot: 'environment', text: () => describeEnvironment(session, environment['CAST_BASH']) });
  },
});
