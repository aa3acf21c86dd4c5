;;; photofinish.el --- Photofinish in Emacs, over dape or dap-mode -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later
;; Version: 1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: tools, debugging

;;; Commentary:

;; (require 'photofinish) in init.el.  With dape (Emacs 29.1 or later): M-x dape, then `photofinish' (to the failure of a
;; trace), `photofinish-record' or `photofinish-attach'.  With dap-mode: M-x dap-debug, templates of the same names.
;; M-x photofinish-races lists the racing receives of a trace, first suspect first; each line leads to its place in the
;; source.  M-x photofinish-replay-to goes to an event of a rank, in a session of dape.

;;; Code:

(require 'compile)
(require 'json)
(require 'subr-x)

(defvar dape-configs)
(declare-function dape--live-connection "ext:dape" (type &optional nowarn require-selected))
(declare-function dape-request "ext:dape" (conn command arguments &optional cb))
(declare-function dap-register-debug-provider "ext:dap-mode" (language-id provide-configuration-fn))
(declare-function dap-register-debug-template "ext:dap-mode" (configuration-name configuration))

(defgroup photofinish nil
  "A debugger for MPI programs whose bugs hide in the order of messages."
  :group 'tools)

(defcustom photofinish-command "photofinish"
  "The program photofinish."
  :type 'string)

(defcustom photofinish-launcher ["mpirun" "-n" "4"]
  "Words of the launcher with which programs are recorded."
  :type '(vector string))

(defun photofinish-read-trace ()
  "Ask for a trace."
  (expand-file-name
   (read-file-name "Trace (.pft): " nil nil t nil
                   (lambda (name) (or (file-directory-p name) (string-suffix-p ".pft" name))))))

(defun photofinish-read-program ()
  "Ask for a program."
  (expand-file-name (read-file-name "Program: " nil nil t)))

(defun photofinish-read-process ()
  "Ask for the process of a launcher or a rank."
  (read-number "Process of mpirun or of a rank: "))

(defun photofinish-dape-configs ()
  "Configurations for `dape-configs'."
  (let ((modes '(modes (c-mode c-ts-mode c++-mode c++-ts-mode f90-mode fortran-mode python-mode python-ts-mode)))
        (adapter `(command ,photofinish-command command-args ("dap") :type "photofinish")))
    `((photofinish ,@modes ,@adapter :request "launch" :trace photofinish-read-trace :until "failure")
      (photofinish-record ,@modes ,@adapter :request "launch" :program photofinish-read-program :args []
                          :launcher ,photofinish-launcher :stopOnEntry t)
      (photofinish-attach ,@modes ,@adapter :request "attach" :processId photofinish-read-process))))

(with-eval-after-load 'dape
  (dolist (config (photofinish-dape-configs))
    (setf (alist-get (car config) dape-configs) (cdr config))))

(defun photofinish-dap-mode-provider (conf)
  "Fill in the debug configuration CONF of dap-mode."
  (setq conf (plist-put conf :dap-server-path (list photofinish-command "dap")))
  (when (equal (plist-get conf :request) "attach")
    (unless (plist-get conf :processId)
      (setq conf (plist-put conf :processId (photofinish-read-process)))))
  (when (and (equal (plist-get conf :request) "launch")
             (not (plist-get conf :trace))
             (not (plist-get conf :program)))
    (setq conf (plist-put conf :trace (photofinish-read-trace))))
  conf)

(defun photofinish-dap-mode-templates ()
  "Templates of dap-mode, as (NAME . CONFIGURATION)."
  `(("Photofinish: to the failure of a trace"
     . (:type "photofinish" :request "launch" :trace nil :until "failure"))
    ("Photofinish: record, then replay"
     . (:type "photofinish" :request "launch" :program "${workspaceFolder}/app" :args []
        :launcher ,photofinish-launcher :stopOnEntry t))
    ("Photofinish: attach to a running job"
     . (:type "photofinish" :request "attach" :processId nil))))

(with-eval-after-load 'dap-mode
  (dap-register-debug-provider "photofinish" #'photofinish-dap-mode-provider)
  (dolist (template (photofinish-dap-mode-templates))
    (dap-register-debug-template
     (car template) (append (list :name (car template)) (cdr template)))))

(defun photofinish-race-lines (document)
  "Lines for the races of DOCUMENT, first suspects first.
It is that of `photofinish races --json', as an alist."
  (let ((number 0) (lines nil))
    (mapc
     (lambda (race)
       (setq number (1+ number))
       (let* ((receive (alist-get 'receive race))
              (file (alist-get 'file receive))
              (weight (alist-get 'weight race))
              (others (length (alist-get 'alternatives race))))
         (push (cons (or (cdr (assoc weight '(("first" . 0) ("before failure" . 1)))) 2)
                     (format "%srace %d (%s): rank %d event %d, %d %s"
                             (if (stringp file) (format "%s:%d: " file (alist-get 'line receive)) "")
                             number weight (alist-get 'rank receive) (alist-get 'serial receive)
                             others (if (= others 1) "alternative" "alternatives")))
               lines)))
     (alist-get 'races document))
    (mapcar #'cdr (sort (nreverse lines) (lambda (a b) (< (car a) (car b)))))))

(defun photofinish-read-races (trace)
  "The document of `photofinish races --json' of TRACE, as an alist."
  (let ((errors (make-temp-file "photofinish")))
    (unwind-protect
        (with-temp-buffer
          (let ((status (call-process photofinish-command nil (list t errors) nil
                                      "races" "--json" (expand-file-name trace))))
            (goto-char (point-min))
            (if (eq status 0)
                (json-parse-buffer :object-type 'alist :null-object nil)
              (user-error "%s" (with-temp-buffer
                                 (insert-file-contents errors)
                                 (if (= (buffer-size) 0)
                                     (format "photofinish ended with %s" status)
                                   (string-trim (buffer-string))))))))
      (delete-file errors))))

(defun photofinish-races (trace)
  "List the racing receives of TRACE, first suspects first."
  (interactive (list (photofinish-read-trace)))
  (let ((lines (photofinish-race-lines (photofinish-read-races trace))))
    (with-current-buffer (get-buffer-create "*photofinish races*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (format "%d racing receives of %s\n\n" (length lines) trace)
                (string-join lines "\n") "\n"))
      (compilation-mode)
      (goto-char (point-min))
      (unless noninteractive
        (pop-to-buffer (current-buffer)))
      (current-buffer))))

(defun photofinish-replay-to (rank serial)
  "Replay to just before event SERIAL of RANK, in the session of dape."
  (interactive (list (read-number "Rank: ") (read-number "Event: ")))
  (unless (fboundp 'dape-request)
    (user-error "This needs dape, and a session of it"))
  (dape-request (dape--live-connection 'last) "photofinish/replayTo" (list :rank rank :serial serial)))

(provide 'photofinish)
;;; photofinish.el ends here
