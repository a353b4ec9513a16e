# frozen_string_literal: true

require "digest/sha2"

require_relative "../json"
require_relative "fields"

module Polycache
  module HTTP
    class ResponseCache
      # What an answer is stored under (spec/http.md, "The keys").
      # @api private
      module RequestKey
        # A longer part of a key, in the units of UTF-16, is told by its hash.
        LONGEST = 400
        HOST = /\A(?:[a-z0-9._~!$&'()*+;=%-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?\z/n
        # As servers hand on what clients wrote. What one has decoded could look like another.
        PATH = %r{\A/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*\z}n
        private_constant :LONGEST, :HOST, :PATH

        module_function

        # What the keys of all values of the fields begin with: of the key that was given, or of the
        # URL.
        def base(given) = part(given.encode(Encoding::UTF_8))

        # With the values of the fields that belong to it. Quotes end each part, so that no part can
        # pretend to be two.
        def key(base, fields, vary) = base + vary.map { |name| part(fields[name]) }.join

        # @return [String, nil] the URL of a request with its query; nil where the request does not
        #   say of which host it is
        def url(env)
          host = env["HTTP_HOST"].to_s.downcase
          mount = env["SCRIPT_NAME"].to_s
          path = "#{mount}#{env["PATH_INFO"]}"
          path = "/" if path.empty?
          port = { "http" => ":80", "https" => ":443" }[scheme(env)]
          return unless port && HOST.match?(host.b) && PATH.match?(path.b)

          query = Fields.text(env["QUERY_STRING"].to_s)
          query = "?#{query}" unless query.empty?
          # The app sees which part of the path leads to it.
          behind = mount.empty? ? "" : "##{mount}"
          "#{scheme(env)}://#{host.delete_suffix(port)}#{path}#{query}#{behind}"
        end

        # Name and port of the server as the field Host has them: a server may make them of fields
        # that are not in the key.
        def server(env)
          name, port = /\A(.*?)(?::([0-9]+))?\z/mn.match(env["HTTP_HOST"].to_s.b).captures
          port ||= scheme(env) == "https" ? "443" : "80"
          { "SERVER_NAME" => name.empty? ? "localhost" : name, "SERVER_PORT" => port }
        end

        def scheme(env) = env["HTTPS"] == "on" ? "https" : env["rack.url_scheme"]

        def part(text)
          return "-" if text.nil?

          units = text.length + text.each_char.count { |letter| letter.ord > 0xffff }
          return Json.of(text).dup.force_encoding(Encoding::UTF_8) if units <= LONGEST

          hash = [Digest::SHA256.digest(text)].pack("m0").tr("+/", "-_").delete("=")
          "##{hash}\""
        end

        private_class_method :part, :scheme
      end
      private_constant :RequestKey
    end
  end
end
