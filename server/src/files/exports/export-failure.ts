/** An export that cannot be built, however often it is retried. Its message is shown to the caller. */
export class ExportFailure extends Error {
  override name = 'ExportFailure'
}
