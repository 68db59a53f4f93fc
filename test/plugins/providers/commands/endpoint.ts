/** A provider on loopback whose list of models and refusals a test decides. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface EndpointOptions {
  /** Ids under /v1/models; a number is the status of the answer instead, a text its body. */
  readonly models?: readonly string[] | number | string;
  /** The key that it wants. */
  readonly key?: string;
  /** Models that it answers for; default: those of the list. */
  readonly serves?: readonly string[];
}
export interface Endpoint {
  /** Ends in /v1. */
  readonly url: string;
  readonly port: number;
  /** Method, path and credentials of each request, and the model that was asked. */
  readonly seen: readonly { readonly path: string; readonly authorization: string | undefined; readonly model?: string }[];
}

const json = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(typeof value === 'string' ? value : JSON.stringify(value));
};

export const startEndpoint = async (options: EndpointOptions = {}): Promise<Endpoint> => {
  const { models = ['model-b', 'model-a'], key, serves = Array.isArray(models) ? (models as readonly string[]) : undefined } = options;
  const seen: { path: string; authorization: string | undefined; model?: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { authorization } = request.headers;
    const path = `${request.method} ${request.url}`;
    const asked = body === '' ? {} : (JSON.parse(body) as { model?: string });
    seen.push({ path, authorization, ...(asked.model === undefined ? {} : { model: asked.model }) });
    if (key !== undefined && authorization !== `Bearer ${key}`) return json(response, 401, { error: { message: 'no such key' } });
    if (path === 'GET /v1/models') {
      if (typeof models === 'number') return json(response, models, { error: { message: `status ${models}` } });
      return json(response, 200, typeof models === 'string' ? models : { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
    }
    if (path !== 'POST /v1/chat/completions') return json(response, 404, { error: { message: 'no such path' } });
    if (serves && !serves.includes(asked.model ?? ''))
      return json(response, 404, { error: { message: `The model ${asked.model} does not exist`, code: 'model_not_found' } });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, port, seen };
};

/** Models that were asked for a reply, in order. */
export const askedOf = ({ seen }: Endpoint): readonly string[] => seen.flatMap(({ model }) => model ?? []);
