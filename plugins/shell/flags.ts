/** Commands that only read, and of each the options with which it still does. */

/** Any option and any argument will do: nothing about it writes or runs anything. */
export const HARMLESS: ReadonlySet<string> = new Set(
  `arch basename cat cksum cmp column comm cut df diff dirname du echo egrep expand expr false fgrep fmt fold free grep groups head id join jq locale ls
   md5sum nl nproc od paste printenv ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum stat strings sum tac tail tr true tty type
   uname unexpand uptime wc which whoami`.split(/\s+/),
);

export interface Allowed {
  /** Short options without a value; they may be bundled. */
  readonly short?: string;
  /** Short options with a value, attached or in the next word. */
  readonly shortValue?: string;
  /** Long options, with or without `=value`. */
  readonly long?: readonly string[];
  /** Single-dash words as a whole: `-name`, `-maxdepth`. */
  readonly word?: readonly string[];
  /** Most operands that it may have. */
  readonly operands?: number;
  /** What each operand must look like. */
  readonly operand?: RegExp;
  /** An option that must be there. */
  readonly needs?: RegExp;
  /** What the first word must be. */
  readonly first?: RegExp;
}

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

const fd: Allowed = {
  short: 'HIusigFaLp0q1',
  shortValue: 'tedEcSjm',
  long: list(`--hidden --no-ignore --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --follow --full-path --print0 --quiet --type --extension
    --max-depth --min-depth --exact-depth --exclude --color --size --max-results --changed-within --changed-before --version --help`),
};

export const ALLOWED: Readonly<Record<string, Allowed>> = {
  cd: { operands: 1 },
  date: { short: 'uRI', shortValue: 'dr', long: list('--date --utc --universal --rfc-3339 --iso-8601 --rfc-email --reference'), operand: /^\+/ },
  fd,
  fdfind: fd,
  file: { short: 'biLhks0N', shortValue: 'F', long: list('--brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going') },
  find: {
    word: list(`-H -L -P -name -iname -path -ipath -wholename -regex -iregex -regextype -lname -type -xtype -maxdepth -mindepth -depth -size -empty -newer -newermt
      -anewer -cnewer -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -nouser -nogroup -links -inum -samefile -readable -writable -executable
      -print -print0 -printf -ls -prune -quit -not -and -or -a -o -true -false -xdev -mount -daystart -follow`),
  },
  rg: {
    short: 'iSsnNlcvwxoFUuHIaLP0qp.',
    shortValue: 'ABCgtTemdMjr',
    long: list(`--ignore-case --smart-case --case-sensitive --line-number --no-line-number --files-with-matches --files-without-match --files --count --count-matches
      --invert-match --word-regexp --line-regexp --only-matching --fixed-strings --multiline --multiline-dotall --unrestricted --with-filename --no-filename --text
      --follow --pcre2 --null --quiet --pretty --hidden --after-context --before-context --context --glob --iglob --type --type-not --type-list --regexp --max-count
      --max-depth --max-columns --max-filesize --threads --replace --json --no-ignore --no-ignore-vcs --sort --sortr --color --heading --no-heading --stats --vimgrep
      --column --trim --passthru --no-messages --no-config --version --help`),
  },
  sed: { short: 'nErs', long: list('--quiet --silent --regexp-extended'), needs: /^(-[Er]*n[nEr]*|--quiet|--silent)$/ },
  sort: {
    short: 'bdfghiMnRrVcCmsuz',
    shortValue: 'kt',
    long: list(`--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --random-sort
      --reverse --version-sort --check --merge --stable --unique --zero-terminated --key --field-separator`),
  },
  tree: {
    short: 'adfilpshugDFqNtrncCASxJXv',
    shortValue: 'LPI',
    long: list('--dirsfirst --noreport --gitignore --du --prune --filelimit --filesfirst --matchdirs --ignore-case --si --sort --version --help'),
  },
  uniq: {
    short: 'cdDuiz',
    shortValue: 'fsw',
    long: list('--count --repeated --unique --ignore-case --zero-terminated --skip-fields --skip-chars --check-chars'),
    operands: 1,
  },
  yq: {
    short: 'reMCNjcyYP',
    shortValue: 'op',
    long: list('--raw-output --output-format --input-format --exit-status --no-colors --colors --no-doc --prettyPrint --version'),
  },
};

/** Wrappers that are fine when what they run is. */
export const READ_WRAPPERS: Readonly<Record<string, Allowed>> = {
  command: { short: 'pvV' },
  nice: { shortValue: 'n' },
  time: { short: 'pv' },
  timeout: { shortValue: 'ks', long: list('--kill-after --signal --preserve-status --foreground') },
  xargs: { short: '0rtx', shortValue: 'nILPd', long: list('--null --no-run-if-empty --max-args --max-lines --max-procs --delimiter') },
};

/** Options that write a file or run a program, in any subcommand; git takes any beginning of a long option. */
export const GIT_REFUSED: readonly string[] = list('--output --ext-diff --textconv --open-files-in-pager --exec --upload-pack --filters --paginate');
/** Options before the subcommand. `-C`, `-c` and the others bring in a configuration that may run programs. */
export const GIT_GLOBAL: ReadonlySet<string> = new Set(['--no-pager', '-P', '--no-optional-locks']);

/** Subcommands that only read, whatever else they are told. */
export const GIT_READS: ReadonlySet<string> = new Set(
  list(`blame cat-file check-attr check-ignore count-objects describe diff diff-files diff-index diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev
    rev-list rev-parse shortlog show show-branch show-ref status version whatchanged`),
);
const REFS = '--sort --format --no-color --no-column --points-at --contains --no-contains --merged --no-merged';
/** Subcommands that only read in some of their forms. */
export const GIT_FORMS: Readonly<Record<string, readonly Allowed[]>> = {
  branch: [
    { short: 'arvqi', long: list(`--all --remotes --verbose --show-current ${REFS}`), operands: 0 },
    { short: 'arvqi', long: list(`--list --all --remotes --verbose ${REFS}`), needs: /^--(list|points-at|(no-)?contains|(no-)?merged)$/ },
  ],
  config: [
    { short: 'lz', long: list('--list --local --global --system --show-origin --show-scope --name-only --null'), needs: /^(-l|--list)$/, operands: 0 },
    {
      short: 'z',
      long: list('--get --get-all --get-regexp --local --global --system --show-origin --show-scope --null'),
      needs: /^--get(-all|-regexp)?$/,
      operands: 2,
    },
  ],
  'ls-remote': [{ short: 'hbtq', long: list('--heads --branches --tags --refs --quiet --symref --sort'), operand: /^(?!.*::)[\w.*/][\w.*/:@-]*$/ }],
  reflog: [{ short: 'npq', long: list('--all --oneline --date --format --pretty --max-count --no-color'), operand: /^(?!(expire|delete|drop|write)$)/ }],
  remote: [
    { short: 'v', long: list('--verbose'), operands: 0 },
    { long: list('--all --push'), first: /^get-url$/, operands: 2 },
  ],
  stash: [{ short: 'pu', long: list('--stat --patch --name-only --name-status --oneline'), first: /^(list|show)$/ }],
  tag: [
    { short: 'n', long: list(REFS), operands: 0 },
    { short: 'ln', long: list(`--list ${REFS}`), needs: /^(-[a-z]*l[a-z]*|--(list|points-at|(no-)?contains|(no-)?merged))$/ },
  ],
  worktree: [{ short: 'v', long: list('--porcelain'), first: /^list$/, operands: 1 }],
};
