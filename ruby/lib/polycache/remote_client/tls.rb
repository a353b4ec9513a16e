# frozen_string_literal: true

require_relative "../errors"

module Polycache
  module RemoteClient
    # The option +ssl_params+ of a client, which is what OpenSSL's context takes: certificates and
    # keys are read, as PEM.
    module Tls
      KNOWN = %i[ca_file ca_path cert key verify_mode verify_hostname min_version].freeze
      # OpenSSL::SSL::VERIFY_NONE.
      VERIFY_NONE = 0
      # OpenSSL::SSL::TLS1_2_VERSION: nothing older is spoken in any case.
      NEWEST = 0x0303
      OLD = %w[TLS1 TLS1_1 TLS1_2].freeze
      # How OpenSSL wants the files of a +ca_path+ to be called.
      HASHED = /\A\h{8}\.\d+\z/
      private_constant :KNOWN, :VERIFY_NONE, :NEWEST, :OLD, :HASHED

      module_function

      # @param params [Hash, nil]
      # @return [Hash]
      # @raise [InvalidArgument] for what native connections cannot have
      def settings(params)
        params = (params || {}).to_h.transform_keys(&:to_sym).compact
        unknown = params.keys - KNOWN
        refuse("#{unknown.join(", ")} cannot be taken over") unless unknown.empty?
        insecure = params[:verify_mode] == VERIFY_NONE
        check(params, insecure)
        { authority: (authority(params) unless insecure), **client(params), insecure: insecure }
      end

      def check(params, insecure)
        if params[:verify_hostname] == false && !insecure
          refuse("verify_hostname is false: a cache looks at the whole certificate, or with " \
                 "verify_mode VERIFY_NONE at nothing of it")
        end
        version = params[:min_version]
        old = version.is_a?(Integer) ? version <= NEWEST : OLD.include?(version.to_s)
        refuse("min_version cannot be above TLS 1.2") unless version.nil? || old
      end

      def authority(params)
        files = [*params[:ca_file]]
        if (folder = params[:ca_path])
          names = read("ca_path") { Dir.children(folder) }.grep(HASHED).sort
          files += names.map { |name| File.join(folder, name) }
          refuse("ca_path has no file that is called as OpenSSL wants it") if names.empty?
        end
        pem(files.map { |file| read("ca_file") { File.read(file) } }.join("\n")) unless files.empty?
      end

      def pem(text)
        return text if text.include?("-----BEGIN CERTIFICATE-----")

        refuse("ca_file and ca_path hold no certificate in PEM")
      end

      def client(params)
        certificate, key = params.values_at(:cert, :key)
        refuse("cert and key go together") if certificate.nil? != key.nil?
        return { certificate: nil, key: nil } unless key

        { certificate: certificate.is_a?(String) ? text("cert", certificate) : certificate.to_pem,
          key: key.is_a?(String) ? text("key", key) : key.private_to_pem }
      end

      # A file's, or it is PEM itself.
      def text(name, held)
        return held if held.include?("-----BEGIN")

        read(name) { File.read(held) }
      end

      def read(name)
        yield
      rescue SystemCallError => e
        refuse("#{name} cannot be read: #{e.message}")
      end

      def refuse(why)
        raise InvalidArgument, "remote is a client with ssl_params: #{why}"
      end

      private_class_method :check, :authority, :pem, :client, :text, :read, :refuse
    end
    private_constant :Tls
  end
end
