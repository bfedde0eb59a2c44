/** An export that cannot be built, however often it is tried. Its message is for the caller. */
export class ExportFailure extends Error {
  override name = 'ExportFailure'
}
