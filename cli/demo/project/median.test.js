import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from './median.js';

test('an odd number of values', () => assert.equal(median([3, 1, 2]), 2));
test('an even number of values', () => assert.equal(median([4, 1, 3, 2]), 2.5));
test('numbers of different lengths', () => assert.equal(median([9, 10, 1]), 9));
