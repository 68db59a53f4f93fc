export interface ModelRef {
  /** Name of a registered provider. */
  readonly provider: string;
  readonly model: string;
}

/** `provider/model`, or a `model` of the active provider: names of models have slashes as well, so only a known provider counts as one. */
export const readModelRef = (ref: string, providers: readonly string[], active: string): ModelRef => {
  const provider = providers.find((name) => ref.startsWith(`${name}/`) && ref.length > name.length + 1);
  return provider === undefined ? { provider: active, model: ref } : { provider, model: ref.slice(provider.length + 1) };
};
