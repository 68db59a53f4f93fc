import { expect, test } from 'vitest';
import { ProviderError, type ProviderFailure } from '../../../kernel/index.ts';
import { verdictOn, type Verdict } from '../../../plugins/images/refusal.ts';

test.each<[said: string, kind: ProviderFailure, status: number | undefined, verdict: Verdict]>([
  ['image input is not supported by this model', 'bad_request', 400, 'unable'],
  ['image input is not supported - hint: you may need to provide the mmproj', 'overload', 500, 'unable'],
  ['No endpoints found that support image input', 'not_found', 404, 'unable'],
  ['This model does not support images', 'bad_request', 400, 'unable'],
  ["The model can't process image_url parts", 'bad_request', 400, 'unable'],
  ['Failed to deserialize: unknown variant `image_url`, expected `text`', 'bad_request', 422, 'unable'],
  ['a-model is not a multimodal model', 'bad_request', 400, 'unable'],
  ['Invalid content type. image_url is only supported by certain models', 'bad_request', 400, 'unable'],
  ['image format not supported: bmp', 'bad_request', 400, 'doubtful'],
  ['messages.3.content.1: image exceeds 5 MB maximum', 'bad_request', 400, 'doubtful'],
  ['could not process image', 'bad_request', 400, 'doubtful'],
  ['invalid request', 'bad_request', 400, 'doubtful'],
  ['unsupported media type', 'bad_request', 415, 'doubtful'],
  ['no such model', 'not_found', 404, 'doubtful'],
  ['the vision tower failed', 'other', undefined, 'doubtful'],
  ['something else', 'other', undefined, undefined],
  ['something else', 'bad_request', 200, undefined],

  ['The conversation does not fit into the context window of the model (HTTP 413): 413 Request Entity Too Large: nginx', 'overflow', 413, 'bulk'],
  ['The conversation does not fit into the context window of the model (HTTP 413)', 'overflow', 413, 'bulk'],
  ['request body exceeds the maximum of 20971520 bytes', 'overflow', 400, 'bulk'],
  ['request body is too large', 'bad_request', 400, 'bulk'],
  ['Too many images in request. Max is 20', 'bad_request', 400, 'bulk'],
  ['Request too large for model a on tokens per minute (TPM): Limit 12000, Requested 14137', 'overflow', 413, undefined],
  ["This model's maximum context length is 8192 tokens", 'overflow', 400, undefined],
  ['invalid params, context window exceeds limit', 'overflow', 400, undefined],

  ['this key may not use vision models', 'auth', 403, undefined],
  ['no credit left for image input', 'quota', 402, undefined],
  ['too many images a minute', 'rate', 429, undefined],
  ['the connection broke while an image was sent', 'network', undefined, undefined],
  ['the image is against the content policy', 'refused', 400, undefined],
])('%s (%s, %s) is %s', (said, kind, status, verdict) => {
  expect(verdictOn({ kind, error: new ProviderError(kind, said, status === undefined ? {} : { status }) })).toBe(verdict);
});
