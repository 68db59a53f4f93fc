/** A provider on loopback that answers by the model's name: `one` token, `many` tokens, or as many `rounds` of reading a file. */
import { createServer } from 'node:http';

export const TOKENS = 20_000;
export const ROUNDS = 50;

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const DONE = 'data: [DONE]\n\n';

const oneToken = chunk({ role: 'assistant', content: 'hello' }) + chunk({}, 'stop') + DONE;

// In packets of a few hundred bytes, as a network would bring them.
const manyTokens = async (response) => {
  const packet = chunk({ content: 'token ' }).repeat(4);
  for (let sent = 0; sent < TOKENS; sent += 4) if (!response.write(packet)) await new Promise((resolve) => response.once('drain', resolve));
  response.end(chunk({}, 'stop') + DONE);
};

const toolRound = (round) => {
  if (round > ROUNDS) return oneToken;
  const call = { index: 0, id: `call_${round}`, type: 'function', function: { name: 'read', arguments: JSON.stringify({ path: `file-${round}.txt` }) } };
  return chunk({ role: 'assistant', tool_calls: [call] }) + chunk({}, 'tool_calls') + DONE;
};

/** `arrivals` has the time of each request since the last `reset()`. */
export const startServer = async () => {
  let arrivals = [];
  const server = createServer(async (request, response) => {
    arrivals.push(performance.now());
    const round = arrivals.length;
    let body = '';
    request.setEncoding('utf8');
    for await (const part of request) body += part;
    const { model } = JSON.parse(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (model === 'many') await manyTokens(response);
    else response.end(model === 'rounds' ? toolRound(round) : oneToken);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    reset: () => {
      arrivals = [];
    },
    arrivals: () => arrivals,
    close: () => server.close(),
  };
};
