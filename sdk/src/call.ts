/** The data of an answer with the answer itself. */
export type WithResponse<T> = { data: T; response: Response; request_id: string | null }

/** A call in progress: a promise of its data. `withResponse()` also gives the headers and the id of the request. */
export class Call<T> extends Promise<T> {
  #answer: Promise<WithResponse<T>> | undefined

  /** Makes `then` and the like return plain promises. */
  static override get [Symbol.species]() {
    return Promise
  }

  static of<T>(answer: Promise<WithResponse<T>>): Call<T> {
    const call = new Call<T>((resolve, reject) => {
      answer.then(({ data }) => resolve(data), reject)
    })
    call.#answer = answer
    return call
  }

  async withResponse(): Promise<WithResponse<T>> {
    if (this.#answer === undefined) throw new TypeError('this call was not made by a method of the SDK')
    // A failure is reported by the promise that is returned, not a second time by this one.
    this.catch(() => undefined)
    return this.#answer
  }

  /** Returns this call with its data changed. */
  map<Other>(change: (data: T, response: Response) => Other): Call<Other> {
    return Call.of(
      this.withResponse().then(({ data, ...rest }) => ({ ...rest, data: change(data, rest.response) })),
    )
  }
}
