/** What a command finds in its environment so that nothing waits for a person. */

const NO_EDITOR = 'There is no editor here: give the text with a flag, as in git commit -m.';
const EDITOR_ADVICE =
  'Give the text with a flag (git commit -m, git tag -m, git merge --no-edit); keep a prepared text with GIT_EDITOR=true; script a rebase with GIT_SEQUENCE_EDITOR="sed -i ..." or use git rebase --onto, git commit --fixup with --autosquash.';
const NO_CREDENTIALS_ADVICE = 'No name or password can be typed here: use an SSH remote, a credential helper, or ask the user to sign in.';

/** Run by a shell, as git does with every editor; it fails, so that nothing goes on with a text that nobody has edited. */
const EDITOR = `sh -c 'echo "${NO_EDITOR}" >&2; exit 1'`;

/** Name of the mark by which a process is known that has left the group of its command. */
export const MARK = 'CAST_COMMAND';

export const commandEnvironment = (mark: string): Record<string, string> => ({
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  EDITOR,
  VISUAL: EDITOR,
  GIT_EDITOR: EDITOR,
  GIT_SEQUENCE_EDITOR: EDITOR,
  GIT_TERMINAL_PROMPT: '0',
  // Empty, not absent: else git asks through core.askPass or a window.
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
  [MARK]: mark,
});

const NO_CONSENT_ADVICE = 'Nothing can be confirmed here: npm exec --yes (npx --yes) installs a package without asking.';

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [new RegExp(NO_EDITOR), EDITOR_ADVICE],
  [/terminal prompts disabled|could not read (?:Username|Password) for/, NO_CREDENTIALS_ADVICE],
  [/npx canceled due to missing packages/, NO_CONSENT_ADVICE],
  [/a terminal is required to read the password|sudo: a password is required/, 'No password can be typed here: do without sudo, or ask the user to run it.'],
];

/** How a command that failed for want of a terminal is run without one; undefined for other failures. */
export const adviceFor = (output: string): string | undefined => ADVICE.find(([sign]) => sign.test(output))?.[1];
