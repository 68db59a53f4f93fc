/** Where the services are, and the keys for them. */
import { ToolError } from '../../kernel/index.ts';
import type { Desk, Service } from './desk.ts';

const PUBLIC: Readonly<Record<Service, string>> = {
  jina: 'https://r.jina.ai',
  ddg: 'https://html.duckduckgo.com/html',
  tavily: 'https://api.tavily.com',
  brave: 'https://api.search.brave.com',
};

/** Without a slash at its end. */
export const endpoint = (service: Service, { options }: Desk): string => {
  const given = options.endpoints[service] ?? PUBLIC[service];
  if (/^https?:\/\//i.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '');
  throw new ToolError('UNAVAILABLE', `plugins.web.endpoints.${service} is no address of http:// or https://.`, { fix: 'Correct it or leave it out.' });
};

/** As it is called in the environment and among the saved secrets. */
export const KEYS = {
  jina: ['JINA_API_KEY', 'jinaApiKey'],
  tavily: ['TAVILY_API_KEY', 'tavilyApiKey'],
  brave: ['BRAVE_API_KEY', 'braveApiKey'],
} as const;

export const keyOf = async (service: keyof typeof KEYS, { secrets }: Desk): Promise<string | undefined> => {
  for (const name of KEYS[service]) {
    const key = (await secrets.get(name))?.trim();
    if (key) return key;
  }
  return undefined;
};
