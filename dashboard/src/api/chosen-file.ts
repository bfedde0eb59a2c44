let chosen: File | null = null

/** Keeps a file for the import screen that opens next. */
export function putChosenFile(file: File): void {
  chosen = file
}

/** Returns the file that was chosen before the import screen opened, once. */
export function takeChosenFile(): File | null {
  const file = chosen
  chosen = null
  return file
}
