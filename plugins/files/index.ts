import { definePlugin, defineTool, jsonSchema, type ToolInputs } from '../../kernel/index.ts';
import { hashline } from './hashline/card.ts';
import { LineCache } from './hashline/line-cache.ts';
import { manifest } from './manifest.ts';
import { Seen } from './seen.ts';
import type { Desk } from './target.ts';

type Mode = 'literal' | 'hashline';
const options = jsonSchema<{ mode: Mode }, { mode?: Mode }>({
  type: 'object',
  additionalProperties: false,
  properties: {
    mode: {
      enum: ['literal', 'hashline'],
      default: 'literal',
      description: 'How edits name their place: `literal`, by the text that stands there, or `hashline`, by the number and hash of its lines.',
    },
  },
});

const path = { type: 'string', minLength: 1, description: 'Absolute, from ~, or relative to the working directory' };
const replacement = {
  oldString: { type: 'string', description: 'The text that stands there now, whitespace included; empty to create a new file' },
  newString: { type: 'string', description: 'The text to put in its place, taken literally' },
  replaceAll: { type: 'boolean', description: 'Replace every occurrence; default: oldString must occur exactly once' },
};

const readInput = jsonSchema<ToolInputs['read']>({
  type: 'object',
  required: ['path'],
  properties: {
    path,
    offset: { type: 'integer', minimum: 1, description: 'First line, from 1' },
    limit: { type: 'integer', minimum: 0, description: 'Number of lines; default and most: 2000' },
  },
});
const writeInput = jsonSchema<ToolInputs['write']>({
  type: 'object',
  required: ['path', 'content'],
  properties: { path, content: { type: 'string', description: 'The whole new content of the file' } },
});
const literalInput = jsonSchema<ToolInputs['edit']>({
  type: 'object',
  required: ['filePath'],
  properties: {
    filePath: path,
    ...replacement,
    edits: {
      type: 'array',
      maxItems: 100,
      description: 'Several replacements in this file, matched one after another; all of them or none',
      items: { type: 'object', required: ['oldString', 'newString'], properties: replacement },
    },
  },
});

const literal = {
  read: 'Read a file as numbered lines (`N: text`; the number is not part of the text), a folder as a list of names, or an image. ',
  edit:
    'Replace text in a file. `oldString` must be the text as it stands in the file, without line numbers, and occur exactly once unless `replaceAll` is set: ' +
    'add lines around it to make it unique. Several changes to one file go into `edits`.',
  input: literalInput,
};

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    const { tools } = scope.registries;
    const lines = scope.options.mode === 'hashline' ? scope.host.pool('files/lines', () => new LineCache(scope.host.clock)) : undefined;
    const card = lines ? hashline : literal;
    const desk: Desk = {
      fs: scope.powers.fs,
      ids: scope.ids,
      // In a pool, so that it outlives a renewal of the session's plugins.
      seen: scope.host.pool(`files/seen/${scope.session.id}`, () => new Seen()),
      lines,
    };
    tools.add(
      defineTool({
        name: 'read',
        description: `${card.read}At most 2000 lines or 128 KiB at a time; go on with \`offset\`.`,
        input: readInput,
        effect: 'read',
        repair: true,
        aliases: ['view', 'cat', 'open', 'read_file'],
        paths: (input) => [input.path],
        run: async (input, call) => (await import('./read.ts')).read(input, call, desk),
      }),
    );
    tools.add(
      defineTool({
        name: 'write',
        description:
          'Create a file, or replace all of an existing one; folders are made as needed. Give the complete content: never shorten it with a placeholder. ' +
          'To change part of a file use edit.',
        input: writeInput,
        effect: 'write',
        repair: true,
        aliases: ['create_file', 'write_file'],
        paths: (input) => [input.path],
        run: async (input, call) => (await import('./write.ts')).write(input, call, desk),
      }),
    );
    tools.add(
      defineTool({
        name: 'edit',
        description: card.edit,
        input: card.input,
        effect: 'write',
        repair: true,
        aliases: ['str_replace', 'str_replace_editor', 'apply_patch', 'edit_file'],
        paths: (input) => [input.filePath],
        run: async (input, call) =>
          lines ? (await import('./hashline/edit.ts')).edit(input, call, { ...desk, lines }) : (await import('./edit.ts')).edit(input, call, desk),
      }),
    );
  },
});
