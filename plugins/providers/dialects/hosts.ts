/** Hosts by the labels of their names: what only looks alike (`notopenrouter.example`, a path, a query) is another host. */

export interface HostPattern {
  /** Labels, or parts of them between hyphens: `dashscope` fits `dashscope-intl.aliyuncs.com`. */
  readonly words?: readonly string[];
  /** The host itself, or what stands below it. */
  readonly domains?: readonly string[];
  /** What the path has to begin with besides. */
  readonly path?: string;
}

export const hostFits = ({ hostname, pathname }: URL, { words = [], domains = [], path }: HostPattern): boolean => {
  if (path !== undefined && pathname !== path && !pathname.startsWith(`${path}/`)) return false;
  const labels = hostname.toLowerCase().split('.');
  const parts = new Set([...labels, ...labels.flatMap((label) => label.split('-'))]);
  return words.some((word) => parts.has(word)) || domains.some((domain) => isWithin(hostname, domain));
};

const isWithin = (hostname: string, domain: string): boolean => {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  return host === domain || host.endsWith(`.${domain}`);
};

const OPENAI: HostPattern = { domains: ['api.openai.com'] };
const AZURE: HostPattern = { domains: ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'] };
const OPENROUTER: HostPattern = { domains: ['openrouter.ai'] };
const MISTRAL: HostPattern = { domains: ['mistral.ai'] };

/** Asked with the login of the Codex command line instead of a key: only there, and only encrypted. */
export const isCodex = ({ protocol, host, pathname }: URL): boolean =>
  protocol === 'https:' && host === 'chatgpt.com' && pathname.replace(/\/$/, '') === '/backend-api/codex';
export const isOpenAI = (url: URL): boolean => hostFits(url, OPENAI);
/** Takes its key in a header of its own. */
export const isAzure = (url: URL): boolean => hostFits(url, AZURE);
export const isOpenRouter = (url: URL): boolean => hostFits(url, OPENROUTER);
export const isMistral = (url: URL): boolean => hostFits(url, MISTRAL);
