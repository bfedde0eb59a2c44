import { createStore } from 'zustand'

/** Creates the store that tells whether live changes arrive, and whether they ever did. */
export const createConnection = () =>
  createStore<{ isStreaming: boolean; hadStream: boolean }>(() => ({ isStreaming: false, hadStream: false }))
