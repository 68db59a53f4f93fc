/** `import … from 'cast'`: the kernel's face and zod, for `cast.config.ts` and third-party plugins. */
export * from '../kernel/index.ts';
export { z } from 'zod';
