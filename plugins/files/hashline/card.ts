import { jsonSchema, type ToolInputs } from '../../../kernel/index.ts';

/** How the tools present themselves in the mode `hashline`. */
export const hashline = {
  read:
    'Read a file as lines `LINE:LOCAL:CHUNK→text` (what stands before `→` is the anchor of the line for edit, not part of the text), ' +
    'a folder as a list of names, or an image. ',
  edit:
    'Change lines of a file, each named by its anchor `LINE:LOCAL:CHUNK` as read shows it; anchors are not counted anew between ops. All ops are applied or none. ' +
    '`replace` puts `content` in the place of the line `anchor`, or of all lines from `anchor` to `end_anchor`; empty content deletes them. ' +
    '`insert_after` and `insert_before` add lines; `insert_after` also takes `0:` (top) and `EOF` (end). `write` replaces or creates the whole file, alone and without anchor. ' +
    'The answer has fresh anchors.',
  input: jsonSchema<ToolInputs['edit']>({
    type: 'object',
    required: ['filePath', 'ops'],
    properties: {
      filePath: { type: 'string', minLength: 1, description: 'Absolute, from ~, or relative to the working directory' },
      ops: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: {
          type: 'object',
          required: ['op', 'content'],
          properties: {
            op: { enum: ['replace', 'insert_after', 'insert_before', 'write'] },
            anchor: { type: 'string', description: 'For instance `12:abc:xyz`' },
            end_anchor: { type: 'string', description: 'Last line to replace; default: `anchor` alone' },
            content: { type: 'string', description: 'Complete lines, without anchors, with their indentation' },
          },
        },
      },
    },
  }),
};
