/**
 * What cast is compared with: the same requests and the same reading, and nothing else. `node bare.mjs rounds URL`, or for one answer of a model
 * `node bare.mjs fetch|http|parser URL MODEL`: read with the built-in `fetch`, with `node:http`, or with the stream parser of the `openai` package.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { ROUNDS } from './server.mjs';

const [, , what, url, model] = process.argv;
const agent = new Agent({ keepAlive: true });
const headers = { 'content-type': 'application/json' };
const prompt = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'go' }] });

const post = (body) =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${url}/chat/completions`, { method: 'POST', agent, headers }, async (response) => {
      let text = '';
      response.setEncoding('utf8');
      for await (const part of response) text += part;
      resolve(text);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
const fetched = () => fetch(`${url}/chat/completions`, { method: 'POST', headers, body: prompt });

const WAYS = {
  http: async () => process.stdout.write(await post(prompt)),
  fetch: async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of (await fetched()).body) text += decoder.decode(bytes, { stream: true });
    process.stdout.write(text);
  },
  parser: async () => {
    const { Stream } = await import('openai/core/streaming');
    let text = '';
    for await (const chunk of Stream.fromSSEResponse(await fetched(), new AbortController())) text += chunk.choices[0]?.delta?.content ?? '';
    process.stdout.write(text);
  },
  rounds: async () => {
    const messages = [{ role: 'user', content: 'go' }];
    const ask = () => post(JSON.stringify({ model: 'rounds', stream: true, messages }));
    for (let round = 1; round <= ROUNDS; round += 1) {
      messages.push({ role: 'assistant', content: await ask() });
      messages.push({ role: 'tool', tool_call_id: `call_${round}`, content: await readFile(`file-${round}.txt`, 'utf8') });
    }
    await ask();
  },
};
await WAYS[what]();
agent.destroy();
