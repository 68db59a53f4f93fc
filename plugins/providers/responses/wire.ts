/** The Responses API. */
import type { Wire } from '../wire.ts';
import { ResponsesReader } from './reader.ts';
import { type ResponsesBody, responsesBody } from './request.ts';

const PATH = '/responses';

export const responsesWire: Wire = {
  body: responsesBody,
  // Without the package's resource: it brings a stream reader and parsers, which are ours.
  send: (client, body) => client.post(PATH, { body: body as ResponsesBody }).asResponse(),
  reader: ({ request, host, fail }) => new ResponsesReader({ model: request.model, host, fail }),
};
