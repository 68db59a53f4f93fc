import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { testStore } from '../../contracts/store.ts';

testStore('the memory store', async (clock) => ({ store: createMemoryStore(clock) }));
