import { join } from 'node:path'
import type { Config } from '../../lib/config/config.ts'
import { openDiskStorage } from './disk.ts'
import { openS3Storage } from './s3.ts'
import type { Storage } from './storage.ts'

/** Opens the bucket of LOAM_S3_* if one is set, otherwise the data folder. */
export function openStorage(config: Config): Storage {
  const storage =
    config.LOAM_S3_BUCKET === undefined
      ? openDiskStorage(join(config.LOAM_DATA_DIR, 'files'))
      : openS3Storage({
          bucket: config.LOAM_S3_BUCKET,
          endpoint: config.LOAM_S3_ENDPOINT,
          region: config.LOAM_S3_REGION,
          accessKeyId: config.LOAM_S3_ACCESS_KEY_ID,
          secretAccessKey: config.LOAM_S3_SECRET_ACCESS_KEY,
          forcePathStyle: config.LOAM_S3_FORCE_PATH_STYLE,
        })
  return withCheckedKeys(storage)
}

const KEY = /^[\w-]+\/[\w-]+(\.[\w-]+)*$/

/** Checks every key, so that none can leave its folder. */
function withCheckedKeys(storage: Storage): Storage {
  const checked = (key: string) => {
    if (!KEY.test(key)) throw new Error(`${JSON.stringify(key)} is not a valid key of a file`)
    return key
  }
  return {
    write: async (key, body) => storage.write(checked(key), body),
    read: async (key, range) => storage.read(checked(key), range),
    size: async (key) => storage.size(checked(key)),
    remove: async (key) => storage.remove(checked(key)),
  }
}
