import { createStore } from 'zustand'

/** Whether changes of others are heard of as they happen. */
export const createConnection = () =>
  createStore<{ isStreaming: boolean; hadStream: boolean }>(() => ({ isStreaming: false, hadStream: false }))
