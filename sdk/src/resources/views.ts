import type { Call } from '../call.ts'
import type { CallOptions } from '../options.ts'
import { path, type SheetRef, sheetPath } from '../paths.ts'
import { Resource } from '../resource.ts'
import type { Query } from '../transport.ts'
import type {
  AddCommentBody,
  Comment,
  Comments,
  CreateViewBody,
  DeletedComment,
  DeletedView,
  EditCommentBody,
  ListCommentsQuery,
  UpdateViewBody,
  View,
} from '../wire.ts'

/** The saved views of a sheet. */
export class ViewMethods extends Resource {
  list(sheet: SheetRef, options?: CallOptions): Call<View[]> {
    return this.call('GET', sheetPath(sheet, '/views'), options)
  }

  get(sheet: SheetRef, view_id: string, options?: CallOptions): Call<View> {
    return this.call('GET', sheetPath(sheet, path`/views/${view_id}`), options)
  }

  create(sheet: SheetRef, body: CreateViewBody, options?: CallOptions): Call<View> {
    return this.call('POST', sheetPath(sheet, '/views'), options, { body })
  }

  update(
    sheet: SheetRef,
    view_id: string,
    ...[body, options]: [body: UpdateViewBody, options?: CallOptions]
  ): Call<View> {
    return this.call('PATCH', sheetPath(sheet, path`/views/${view_id}`), options, { body })
  }

  delete(sheet: SheetRef, view_id: string, options?: CallOptions): Call<DeletedView> {
    return this.call('DELETE', sheetPath(sheet, path`/views/${view_id}`), options)
  }
}

/** The comments on rows, cells and values of a sheet. */
export class CommentMethods extends Resource {
  list(sheet: SheetRef, query?: ListCommentsQuery, options?: CallOptions): Call<Comments> {
    return this.call('GET', sheetPath(sheet, '/comments'), options, { query: query as Query | undefined })
  }

  add(sheet: SheetRef, body: AddCommentBody, options?: CallOptions): Call<Comment> {
    return this.call('POST', sheetPath(sheet, '/comments'), options, { body })
  }

  update(
    sheet: SheetRef,
    comment_id: string,
    ...[body, options]: [body: EditCommentBody, options?: CallOptions]
  ): Call<Comment> {
    return this.call('PATCH', sheetPath(sheet, path`/comments/${comment_id}`), options, { body })
  }

  delete(sheet: SheetRef, comment_id: string, options?: CallOptions): Call<DeletedComment> {
    return this.call('DELETE', sheetPath(sheet, path`/comments/${comment_id}`), options)
  }
}
