import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'
import type { Storage } from './storage/storage.ts'
import { forgetExpiredFile, createStorageKey } from './store/files.ts'
import { forgetOldImports } from './store/imports.ts'

/** Defines the job that removes expired files of any kind, and the records of imports that ended long ago. */
export function fileSweepJob({ store, storage }: { store: Store; storage: Storage }): Job {
  return defineJob({
    name: 'sweep_files',
    cron: '*/10 * * * *',
    payload: z.unknown(),
    async run(_payload, signal) {
      const remove = (file: { org_id: string; file_ref: string }) => storage.remove(createStorageKey(file))
      while (!signal.aborted && (await forgetExpiredFile(store.system, remove)));
      await forgetOldImports(store.system)
    },
  })
}
