import { describe, expect, test } from 'vitest';
import { API_VERSION, definePlugin, jsonSchema } from '../../../kernel/index.ts';
import { manifestOf } from '../../../kernel/host/manifest.ts';
import { nearest } from '../../../kernel/nearest.ts';

describe('manifestOf', () => {
  test('everything has a default', () => {
    expect(manifestOf('guard', definePlugin({}).spec)).toEqual({
      name: 'guard',
      version: '0.0.0',
      apiVersion: API_VERSION,
      summary: '',
      capabilities: [],
      activation: ['session'],
      taps: null,
    });
  });
  test('what the plugin says is kept, what is no manifest is left out', () => {
    const spec = definePlugin({
      name: 'lint',
      version: '1.2.0',
      summary: 'Lints.',
      capabilities: ['process'],
      options: jsonSchema({ type: 'object' }),
      activation: ['session', 'command:lint', 'flag:lint', 'config:lint', 'entry:lint', 'service:shell'],
      requires: ['files'],
      after: ['bash'],
      provides: ['shell'],
      uses: ['usage?'],
      taps: ['result', 'gate'],
      commands: [{ name: 'lint', summary: 'Lints.' }],
      flags: [{ name: 'lint', summary: 'Lints.', type: 'boolean' }],
      locked: true,
      inChildren: 'skip',
      apply: () => undefined,
    }).spec;
    const manifest = manifestOf('key', spec);
    expect(manifest).toMatchObject({ name: 'lint', version: '1.2.0', capabilities: ['process'], taps: ['result', 'gate'], locked: true, inChildren: 'skip' });
    expect(Object.keys(manifest)).not.toContain('apply');
    expect(Object.keys(manifest)).not.toContain('options');
  });
  test.each<[string, object, RegExp]>([
    ['name', { name: 'Lint It' }, /`name` must begin with a letter.*got "Lint It"/],
    ['name', { name: 3 }, /`name` must/],
    ['apiVersion', { apiVersion: 99 }, /`apiVersion` is 99, and this cast offers 1/],
    ['version', { version: 1 }, /`version` must be a text, got 1/],
    ['summary', { summary: {} }, /`summary` must be a text/],
    ['capabilities', { capabilities: ['proces'] }, /`capabilities` names "proces", which does not exist\. Did you mean `process`\?/],
    ['capabilities', { capabilities: 'fs' }, /`capabilities` must be a list of names/],
    ['taps', { taps: ['gates'] }, /`taps` names "gates".* Did you mean `gate`\?/],
    ['activation', { activation: ['sometimes'] }, /`activation` has "sometimes"/],
    ['requires', { requires: [1] }, /`requires` must be a list of names/],
    ['commands', { commands: [{ name: 'x' }] }, /`commands` must be a list of objects with a text `name` and a text `summary`/],
    ['flags', { flags: [{ name: 'x', summary: '', type: 'number' }] }, /`flags` must have `type`/],
    ['locked', { locked: 'yes' }, /`locked` must be true or false/],
    ['inChildren', { inChildren: 'no' }, /`inChildren` must be/],
  ])('a wrong %s is named', (_, spec, message) => {
    expect(() => manifestOf('mine', spec)).toThrow(expect.objectContaining({ code: 'PLUGIN_INVALID', message: expect.stringMatching(message) }));
  });
  test('a key that is no name needs a plugin with a name', () => {
    expect(() => manifestOf('My Plugin', {})).toThrow(/plugin My Plugin: `name`/);
    expect(manifestOf('My Plugin', { name: 'mine' }).name).toBe('mine');
  });
  test('what is no object is refused', () => {
    expect(() => manifestOf('x', null)).toThrow(/manifest must be an object/);
  });
});

test.each<[string, string[], string | undefined]>([
  ['bsh', ['bash', 'web'], 'bash'],
  ['wbe', ['bash', 'web'], 'web'],
  ['Model', ['model'], 'model'],
  ['permisions', ['permissions', 'provider'], 'permissions'],
  ['completely-other', ['bash', 'web'], undefined],
  ['xy', ['ab'], undefined],
  ['x', [], undefined],
])('nearest to %s among %j is %s', (name, candidates, expected) => {
  expect(nearest(name, candidates)).toBe(expected);
});
