/** Flat keys of earlier settings files, read as what they are called now. Written in the one shape only. */

type Bag = Readonly<Record<string, unknown>>;
type Rename = readonly [flat: string, path: readonly string[]];

const RENAMES: readonly Rename[] = [
  ['modelProvider', ['provider']],
  ['reasoningLevel', ['reasoning']],
  ['subagentModel', ['models', 'subagent']],
  ['planModel', ['models', 'plan']],
  ['permissionMode', ['permissions', 'mode']],
  ['maxTurnIterations', ['limits', 'maxSteps']],
  ['compactionThreshold', ['plugins', 'compaction', 'threshold']],
  ['searchProvider', ['plugins', 'web', 'search']],
];

/** A key that is already there in the one shape wins over its flat form. */
export const unflatten = (data: unknown): unknown => {
  if (!isBag(data)) return data;
  const named = { ...data, ...providersByName(data['providers']) };
  return RENAMES.reduce<Bag>((bag, [flat, path]) => {
    if (!Object.hasOwn(bag, flat)) return bag;
    const { [flat]: value, ...rest } = bag;
    return put(rest, path, value);
  }, named);
};

const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value);

const put = (bag: Bag, path: readonly string[], value: unknown): Bag => {
  const [key, ...rest] = path;
  if (key === undefined) return bag;
  const known = bag[key];
  if (rest.length === 0) return known === undefined ? { ...bag, [key]: value } : bag;
  // Something that is no object stays as it is: the check of the shape reports it.
  if (known !== undefined && !isBag(known)) return bag;
  return { ...bag, [key]: put(known ?? {}, rest, value) };
};

/** `[{ name, url, … }]` as `{ name: { baseUrl, … } }`. A list of anything else is left for the check of the shape. */
const providersByName = (providers: unknown): Bag => {
  if (!Array.isArray(providers) || !providers.every((item) => isBag(item) && typeof item['name'] === 'string')) return {};
  const entries = (providers as readonly Bag[]).map(({ name, url, reasoningFormat, ...rest }) => [
    String(name),
    { ...rest, ...(url === undefined ? {} : { baseUrl: url }), ...(reasoningFormat === undefined ? {} : { dialect: reasoningFormat }) },
  ]);
  return { providers: Object.fromEntries(entries) as Bag };
};
