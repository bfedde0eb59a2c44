import { accessSync, chmodSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs'
import { type Account, canEnter, currentAccount } from './account.ts'

/** Creates the data folder if it is missing and returns its real path. */
export function openDataDir(path: string): string {
  const root = currentAccount().uid === 0
  try {
    mkdirSync(path, { recursive: true, mode: root ? 0o711 : 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Error(
      `The data folder ${path} cannot be used by this user (uid ${currentAccount().uid}): ` +
        `${cause instanceof Error ? cause.message : String(cause)}. Set LOAM_DATA_DIR to another folder.`,
      { cause },
    )
  }
  return realpathSync(path)
}

/**
 * Opens the data folder, which is ours, to the account. Returns true if the account can now enter it; a closed parent folder
 * may still prevent that.
 */
export async function canReachDataDir(account: Account, dataDir: string): Promise<boolean> {
  if (await canEnter(account, dataDir)) return true
  chmodSync(dataDir, statSync(dataDir).mode | 0o111)
  return await canEnter(account, dataDir)
}

/** Returns a folder for what the account must reach but cannot reach in its usual place. */
export function openSpareDir(account: Account, dataDir: string): string {
  if (account.uid === currentAccount().uid) return dataDir
  mkdirSync('/var/lib/loam', { recursive: true })
  chmodSync('/var/lib/loam', 0o755)
  return '/var/lib/loam'
}
