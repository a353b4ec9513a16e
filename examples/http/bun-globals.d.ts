/** What these programs use of Bun. A project of yours has it from `@types/bun`. */
declare const Bun: {
  serve(options: {
    port: number
    hostname: string
    fetch?: (request: Request) => Response | Promise<Response>
    routes?: Record<string, (request: Request) => Response | Promise<Response>>
  }): { readonly port: number }
}
