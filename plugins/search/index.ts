import { definePlugin, defineTool, jsonSchema, type ToolInputs } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';
import type { Desk } from './place.ts';

const options = jsonSchema<{ engine: 'auto' | 'ripgrep' | 'walk' }, { engine?: 'auto' | 'ripgrep' | 'walk' }>({
  type: 'object',
  additionalProperties: false,
  properties: {
    engine: {
      enum: ['auto', 'ripgrep', 'walk'],
      default: 'auto',
      description: '`ripgrep`; `walk`, which needs no other program; or `auto`, the second where the first cannot be started',
    },
  },
});

const limit = (count: string): object => ({ type: 'integer', minimum: 1, description: count });
const folder = { type: 'string', description: 'Folder to search; default: the working directory' };

const grepInput = jsonSchema<ToolInputs['grep']>({
  type: 'object',
  required: ['pattern'],
  properties: {
    pattern: { type: 'string', minLength: 1, description: 'Regular expression, matched line by line' },
    path: { type: 'string', description: 'Folder or file to search; default: the working directory' },
    glob: { type: 'string', description: 'Only files that match, e.g. `*.ts` or `src/**/*.{js,ts}`; `!` in front: all others' },
    ignoreCase: { type: 'boolean' },
    literal: { type: 'boolean', description: 'Take the pattern as plain text' },
    context: { type: 'integer', minimum: 0, description: 'Lines to show around each match; default 0' },
    limit: limit('Matches to show of each file; default 100'),
  },
});
const globInput = jsonSchema<ToolInputs['glob']>({
  type: 'object',
  required: ['pattern'],
  properties: {
    pattern: { type: 'string', minLength: 1, description: 'E.g. `*.ts` for names anywhere, `src/**/*.ts` for paths' },
    path: folder,
    limit: limit('Files to list; default 1000'),
  },
});
const lsInput = jsonSchema<ToolInputs['ls']>({
  type: 'object',
  properties: { path: { ...folder, description: 'Folder to list; default: the working directory' }, limit: limit('Entries to list; default 500') },
});

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    const { tools } = scope.registries;
    const desk: Desk = { powers: scope.powers, clock: scope.clock, environment: scope.environment, engine: scope.options.engine };
    tools.add(
      defineTool({
        name: 'grep',
        description:
          'Search the contents of files; answers `path:line:text`. Leaves out what git ignores, binary files, links, node_modules and caches; ' +
          'to search in such a folder give it as `path`.',
        input: grepInput,
        effect: 'read',
        repair: true,
        aliases: ['search', 'search_files', 'ripgrep', 'rg'],
        paths: (input) => [input.path ?? '.'],
        run: async (input, call) => (await import('./grep.ts')).grep(input, call, desk),
      }),
    );
    tools.add(
      defineTool({
        name: 'glob',
        description: 'Find files by name or path. Leaves out what git ignores, node_modules and caches; to look in such a folder give it as `path`.',
        input: globInput,
        effect: 'read',
        repair: true,
        synonyms: ['find'],
        aliases: ['find_files'],
        paths: (input) => [input.path ?? '.'],
        run: async (input, call) => (await import('./glob.ts')).glob(input, call, desk),
      }),
    );
    tools.add(
      defineTool({
        name: 'ls',
        description: 'List a folder: `d` or `f`, size in bytes, name. Leaves out what git ignores.',
        input: lsInput,
        effect: 'read',
        repair: true,
        aliases: ['list_dir', 'list_files'],
        paths: (input) => [input.path ?? '.'],
        run: async (input, call) => (await import('./ls.ts')).ls(input, call, desk),
      }),
    );
  },
});
