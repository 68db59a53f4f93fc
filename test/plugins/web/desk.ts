import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { createFetch } from '../../../kernel/host/fetch.ts';
import { type RunningCall, type Scope, type Tool, type ToolInputs, type ToolResult, validate } from '../../../kernel/index.ts';
import type { WebOptions } from '../../../plugins/web/desk.ts';
import plugin from '../../../plugins/web/index.ts';
import { callTool } from '../../tool-call.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

export interface Site {
  /** `http://127.0.0.1:PORT`, and what `allow` takes for it. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly came: IncomingMessage[];
  /** Connections that are open now. */
  open(): Promise<number>;
}
export const serve = async (handle: RequestListener): Promise<Site> => {
  const came: IncomingMessage[] = [];
  const server = createServer((request, reply) => {
    came.push(request);
    handle(request, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const open = (): Promise<number> => new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, port, came, open };
};
/** One page, whatever is asked for. */
export const page = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/html; charset=utf-8' }): Promise<Site> =>
  serve((_request, reply) => reply.writeHead(200, headers).end(body));

export interface WebDesk {
  readonly tools: ReadonlyMap<string, Tool>;
  fetch(input: ToolInputs['web_fetch'], more?: Partial<RunningCall>): Promise<ToolResult>;
  search(input: ToolInputs['web_search'], more?: Partial<RunningCall>): Promise<ToolResult>;
}
export interface DeskParts {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly now?: () => number;
}

/** The tools of the plugin on the real fetch, without a kernel. */
export const openDesk = async (
  given: Partial<WebOptions> = {},
  { secrets = {}, environment = {}, now = () => performance.now() }: DeskParts = {},
): Promise<WebDesk> => {
  const tools = new Map<string, Tool>();
  const checked = await validate(plugin.spec.options as never, given);
  if (checked.issues) throw new Error(checked.issues.map(({ message }) => message).join('; '));
  const pool = new Map<string, unknown>();
  const scope = {
    options: checked.value,
    powers: { net: { fetch: createFetch(environment) }, secrets: { get: async (name: string) => secrets[name] } },
    clock: { now, sleep: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)) },
    host: {
      pool: (key: string, make: () => unknown) => {
        if (!pool.has(key)) pool.set(key, make());
        return pool.get(key);
      },
    },
    registries: { tools: { add: (tool: Tool) => tools.set(tool.name, tool) } },
  } as unknown as Scope<WebOptions, never>;
  plugin.spec.apply?.(scope as never);
  return {
    tools,
    fetch: (input, more) => callTool(tools.get('web_fetch'), input, '/', more),
    search: (input, more) => callTool(tools.get('web_search'), input, '/', more),
  };
};
